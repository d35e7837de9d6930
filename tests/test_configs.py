"""Configs: what `parse` takes, what it refuses and in which words; and that every recipe parses."""

import dataclasses
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from kernelwright.cli.check import parsed
from kernelwright.cli.recipe import read_recipe
from kernelwright.configs import parse, resolved

ROOT = Path(__file__).parents[1]
RECIPES = sorted(path.parent for path in ROOT.glob("configs/*/pipeline.yaml"))


@dataclass
class Schema:
    """Fields of every kind that a stage uses."""

    tasks: str = field(default="tasks.jsonl", metadata={"help": "task file, 100% of it"})
    families: list[str] = field(default_factory=list, metadata={"help": "families to draw"})
    band: float = field(default=0.5, metadata={"help": "a share"})
    count: int | None = field(default=None, metadata={"help": "how many"})
    order: Literal["given", "random"] = field(default="given", metadata={"help": "which order"})
    options: dict[str, Any] = field(default_factory=dict, metadata={"help": "of the backend"})
    resume: bool = field(default=False, metadata={"help": "go on"})


@dataclass
class Trainer:
    """Stands for a trainer's own config, which checks itself."""

    steps: int = 1
    precision: str = "float32"

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError("steps must be\n at least 1")


def written(folder: Path, text: str) -> list[str]:
    file = folder / "config.yaml"
    file.write_text(text)
    return ["--config", str(file)]


def refusal(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        parse(Schema, Trainer, argv=argv)
    assert ended.value.code == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1, message
    return message.split("error: ", 1)[1].strip()


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    argv = written(tmp_path, "tasks: a\nband: 1e-6\nfamilies: [relu]\nsteps: 3\noptions: {a: 1}")
    own, trainer = parse(Schema, Trainer, argv=[*argv, "--tasks", "b", "--resume"])
    assert own == Schema(tasks="b", band=1e-6, families=["relu"], options={"a": 1}, resume=True)
    assert trainer.steps == 3


def test_config_is_accepted_with_an_equals_sign_and_lists_as_flags(tmp_path: Path) -> None:
    argv = ["=".join(written(tmp_path, "count: 2")), "--families", "relu", "gelu", "--resume=false"]
    (own, _) = parse(Schema, Trainer, argv=argv)
    assert own == Schema(count=2, families=["relu", "gelu"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bnd: 1", "unknown key 'bnd'; did you mean 'band'?"),
        ("stpes: 1", "unknown key 'stpes'; did you mean 'steps'?"),
        ("count: 4.5", "count must be int or None, not 4.5"),
        ("count: true", "count must be int or None, not True"),
        ("resume: 3", "resume must be bool, not 3"),
        ("families: relu", "families must be list[str], not 'relu'"),
        ("band: much", "band must be float, not 'much'"),
        ("band:", "band must be float, not None"),
        ("order: no", "order must be one of given, random, not False"),
        ("tasks: no", "tasks must be str, not False (YAML reads a bare no or off as a boolean"),
        ("steps: 0", "steps must be at least 1"),
        ("options: 3", "options must be dict[str, Any], not 3"),
        ("", "is empty; a config is lines of 'key: value'"),
        ("- a", "holds a list; a config is lines of 'key: value'"),
        ("a: [1\nb: 2", "is not valid YAML in line 2"),
        ("env: {HOME: x}", "unknown key 'env'"),
    ],
)
def test_a_mistake_in_the_file_is_one_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refusal(written(tmp_path, text), capsys)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--bnd 1", "unknown key 'bnd'; did you mean 'band'?"),
        ("--xyzzy=1", "unknown key 'xyzzy'; --help lists the keys"),
        ("--ban 1", "unknown key 'ban'; did you mean 'band'?"),
        ("--count 4.5", "--count: invalid int value: '4.5'"),
        ("--resume maybe", "--resume: "),
        ("--order last", "--order: invalid choice: 'last'"),
        ("stray", "unexpected argument 'stray'"),
        ("--config", "--config: expected one argument"),
        ("--config absent.yaml", "no such config file: absent.yaml"),
        ("--config /", "cannot read config file /: Is a directory"),
    ],
)
def test_a_mistake_in_the_flags_is_one_line(
    flags: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refusal(flags.split(), capsys).startswith(message)


def test_help_shows_our_fields_and_imports_no_trainer(capsys: pytest.CaptureFixture[str]) -> None:
    before = set(sys.modules)
    with pytest.raises(SystemExit) as ended:
        parse(Schema, "trl.SFTConfig", "no.such.Trainer", argv=["--help"])
    shown = capsys.readouterr().out
    assert ended.value.code == 0
    assert "--band float" in shown and "100% of it (default: tasks.jsonl)" in shown
    assert "every field of trl.SFTConfig, no.such.Trainer" in shown
    assert not {"torch", "trl"} & (set(sys.modules) - before)


def test_the_resolved_config_of_a_trl_trainer_reads_back(tmp_path: Path) -> None:
    text = "learning_rate: 1e-6\nmax_steps: 2\nuse_cpu: true\nbf16: false\nreport_to: none\n"
    argv = [
        *written(tmp_path, text),
        "--output_dir",
        str(tmp_path / "run"),
        "--hub_token",
        "secret",
    ]
    own, trainer = parse(Schema, "trl.SFTConfig", argv=argv)
    saved = resolved(own, trainer)
    assert saved["learning_rate"] == 1e-6 and "hub_token" not in saved
    again = parse(Schema, "trl.SFTConfig", argv=written(tmp_path, yaml.safe_dump(saved)))
    assert resolved(*again) == saved


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.name)
def test_every_stage_of_every_recipe_parses(recipe: Path, tmp_path: Path) -> None:
    used = set()
    for stage in read_recipe(recipe):
        line = stage.command_line(tmp_path, resume=True)
        if stage.config is not None:
            used.add(stage.config)
            assert dataclasses.is_dataclass(parsed(line)[0])
    files = set(recipe.glob("*.yaml")) - {recipe / "pipeline.yaml"}
    assert used == files, f"not used by any stage: {files - used}"
