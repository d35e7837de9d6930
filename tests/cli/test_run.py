"""``run``: order, resume, refusal of changed configs, honest statuses.

The stages here are real, cheap commands; a stage that trains has its own tests.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.cli.budget import Budget, budget
from kernelwright.cli.check import settings
from kernelwright.cli.ledger import sole_owner
from kernelwright.cli.recipe import Stage, read_recipe
from kernelwright.configs.errors import UserError

LOOK = '{name: look, command: doctor, arguments: ["--help"]}'
LIST = '{name: list, command: backends, arguments: ["--help"]}'
FAIL = '{name: list, command: backends, arguments: ["--wrong"]}'


def recipe(folder: Path, *stages: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "pipeline.yaml").write_text("stages:\n" + "".join(f"  - {each}\n" for each in stages))
    return folder


def run(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernelwright.cli", "run", str(folder), *flags],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=120,
    )


def finished(folder: Path) -> dict[str, dict[str, float]]:
    ledger: dict[str, dict[str, float]] = json.loads((folder / "pipeline.json").read_text())[
        "stages"
    ]
    return ledger


def test_stages_run_in_order_and_a_finished_run_is_not_repeated(tmp_path: Path) -> None:
    done = run(recipe(tmp_path / "two", LIST, LOOK))
    assert done.returncode == 0, done.stderr
    ledger = finished(tmp_path / "runs" / "two")
    assert list(ledger) == ["list", "look"]
    assert ledger["look"]["wall_s"] > 0 and ledger["look"]["peak_rss_mb"] > 10
    again = run(tmp_path / "two")
    assert again.returncode == 0 and "nothing was left to do" in again.stdout
    assert finished(tmp_path / "runs" / "two") == ledger


def test_a_failing_stage_stops_the_run_with_its_status_and_the_next_run_goes_on(
    tmp_path: Path,
) -> None:
    failed = run(recipe(tmp_path / "two", LOOK, FAIL))
    assert failed.returncode == 2
    assert failed.stderr.endswith("kernelwright: stage list failed (exit 2)\n")
    assert list(finished(tmp_path / "runs" / "two")) == ["look"]
    mended = run(recipe(tmp_path / "two", LOOK, LIST))
    assert mended.returncode == 0 and "look: kernelwright" not in mended.stdout


def test_a_config_changed_under_a_finished_stage_is_refused_unless_told(tmp_path: Path) -> None:
    run(recipe(tmp_path / "one", LIST))
    recipe(tmp_path / "one", LOOK.replace("look", "list"))
    refused = run(tmp_path / "one")
    assert refused.returncode == 2 and "config of stage list changed" in refused.stderr
    assert run(tmp_path / "one", "--overwrite").returncode == 0


def test_a_folder_that_is_no_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    refused = run(recipe(tmp_path / "one", LIST), "--output_dir", "mine", "--overwrite")
    assert refused.returncode == 2 and "is no pipeline run" in refused.stderr
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (
        sole_owner(tmp_path / "run"),
        pytest.raises(UserError, match="another kernelwright run"),
        sole_owner(tmp_path / "run"),
    ):
        pass


def test_ending_the_run_ends_the_stage(tmp_path: Path) -> None:
    folder = recipe(tmp_path / "one", LOOK.replace("--help", "--json"))  # seconds: imports torch
    process = subprocess.Popen(
        [sys.executable, "-m", "kernelwright.cli", "run", str(folder)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert any(line.startswith("look: kernelwright doctor") for line in process.stdout)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 130
    assert process.stdout.read() == ""  # the stage, which shares the pipe, has ended too
    assert finished(tmp_path / "runs" / "one") == {}


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (["{name: a, command: trian}"], "no command 'trian'"),
        (["{name: a, command: eval}"], "stage 'a': eval needs a config"),
        (["{name: a, command: report, config: x.yaml}"], "stage 'a': report takes no config"),
        (["{name: a}"], "a stage has no 'command'"),
        (["{name: a, command: eval, confg: x}"], "unknown key 'confg'"),
        ([LIST, LIST], "two stages are called 'list'"),
        (["relu"], "'stages' must be a list"),
    ],
)
def test_a_mistake_in_the_recipe_is_named(stages: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        read_recipe(recipe(tmp_path / "bad", *stages))


def test_a_shipped_recipe_is_found_by_name_and_another_is_not() -> None:
    assert [each.name for each in read_recipe(Path("quickstart"))][:2] == ["synth", "sft"]
    with pytest.raises(UserError, match=r"shipped ones: .*quickstart"):
        read_recipe(Path("nowhere"))


def test_the_run_folder_is_filled_in_and_an_unfinished_stage_resumes(tmp_path: Path) -> None:
    stage = Stage(
        "rl", "rl", tmp_path / "rl.yaml", {"tasks": "{run}/t.jsonl", "families": ["a", "b"]}
    )
    assert stage.command_line(Path("r"), resume=True) == [
        *("rl", "--config", str(tmp_path / "rl.yaml"), "--output_dir", "r/rl"),
        *("--tasks", "r/t.jsonl", "--families", "a", "b", "--resume", "true"),
    ]


def test_a_misspelt_key_of_the_last_stage_is_told_before_the_first_one_runs(
    tmp_path: Path,
) -> None:
    last = "{name: rl, command: rl, config: rl.yaml}"
    folder = recipe(tmp_path / "two", LIST, last)
    (folder / "rl.yaml").write_text("tasks: t.jsonl\nlerning_rate: 1e-6\n")
    refused = run(folder)
    assert refused.returncode == 2 and "list: kernelwright" not in refused.stdout
    assert refused.stderr.splitlines()[-1] == (
        "kernelwright: stage rl: error: unknown key 'lerning_rate'; did you mean 'learning_rate'?"
    )


def test_every_stage_of_the_quick_start_has_a_budget(tmp_path: Path) -> None:
    stages = read_recipe(Path("quickstart"))
    known = settings(stages, tmp_path)
    for stage in stages:
        cost = budget(stage.command, known.get(stage.name, {}))
        assert isinstance(cost, Budget) and cost.seconds > 0, stage.name
    assert budget("rl", {}) is None
