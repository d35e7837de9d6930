"""The stage end to end, with the real verifier: what it writes, and that a kill loses nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kernelwright.data_synth.__main__ import SynthArguments, main
from kernelwright.rewards.candidate import extract
from kernelwright.rewards.record import from_plain
from kernelwright.rewards.task import Task

SETTINGS = {
    "families": ["elementwise", "fusion"],
    "tasks": 4,
    "practice_tasks": 3,
    "eval_tasks": 1,
    "eval_share": 0.5,
    "answers_per_task": 2,
    "valid_share": 0.4,
    "seed": 1,
}


def synth(folder: Path, *flags: str, **settings: object) -> int:
    argv = ["--output_dir", str(folder)]
    for key, value in {**SETTINGS, **settings}.items():
        argv += [f"--{key}", *(value if isinstance(value, Sequence) else [str(value)])]
    return main([*argv, *flags])


def rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("synth") / "run"
    assert synth(path) == 0
    return path


def test_it_keeps_verified_pairs_of_training_tasks_only(folder: Path) -> None:
    tasks, held = rows(folder / "tasks.jsonl"), rows(folder / "eval_tasks.jsonl")
    pairs = rows(folder / "pairs.jsonl")
    practice = rows(folder / "practice_tasks.jsonl")
    assert (len(tasks), len(held), len(pairs), len(practice)) == (4, 1, 8, 3)
    assert not {task["id"] for task in practice} & {task["id"] for task in [*tasks, *held]}
    assert {pair["task_id"] for pair in pairs} == {task["id"] for task in tasks}
    for pair in pairs:
        assert json.loads(pair["verdict"])["status"] == "ok"
        assert from_plain(Task, pair["task"]).id == pair["task_id"]
        assert extract(pair["completion"][0]["content"]).strip() == pair["source"].strip()
        assert pair["split"] in ("train", "valid")
    assert rows(folder / "eval_answers.jsonl")


def test_the_card_counts_what_was_kept_and_says_where_it_is_from(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    assert (card["provenance"], card["licence"], card["seed"]) == ("templates", "Apache-2.0", 1)
    counted = sum(
        number
        for mechanisms in card["verdicts"].values()
        for statuses in mechanisms.values()
        for number in statuses.values()
    )
    assert counted == sum(card["pairs"].values()) + card["eval_answers"] + card["rejected"]


def test_pairs_load_with_datasets(folder: Path, tmp_path: Path) -> None:
    from datasets import load_dataset

    loaded = load_dataset(
        "json", data_files=str(folder / "pairs.jsonl"), cache_dir=str(tmp_path), split="train"
    )
    assert len(loaded) == 8
    assert loaded[0]["prompt"][0]["role"] == "user"


def test_resuming_verifies_only_what_a_torn_line_lost(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "run"
    subprocess.run(["cp", "-r", str(folder), str(copy)], check=True)
    before = (copy / "pairs.jsonl").read_text()
    first, second, *_ = before.splitlines(keepends=True)
    os.truncate(copy / "pairs.jsonl", len((first + second).encode()) + 40)
    (copy / "tasks.jsonl").unlink()
    assert synth(copy, "--resume", "true") == 0
    after = (copy / "pairs.jsonl").read_text()
    assert after.startswith(first + second)
    sources = [
        sorted(json.loads(line)["source"] for line in t.splitlines()) for t in (before, after)
    ]
    assert sources[0] == sources[1]
    assert (copy / "tasks.jsonl").read_text() == (folder / "tasks.jsonl").read_text()


def test_a_finished_run_resumes_without_verifying(folder: Path) -> None:
    before = (folder / "pairs.jsonl").read_bytes()
    assert synth(folder, "--resume", "true") == 0
    assert (folder / "pairs.jsonl").read_bytes() == before


def test_an_existing_folder_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert synth(folder) == 2
    assert "--resume true" in capsys.readouterr().err


def test_pairs_of_other_settings_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synth(folder, "--resume", "true", seed=2) == 2
    assert "these settings do not draw" in capsys.readouterr().err


def test_more_eval_tasks_than_the_families_hold_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synth(tmp_path / "run", eval_share=0.0) == 2
    assert "only 0 of 1 eval tasks" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_an_unknown_family_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--families", "sofmax"])
    assert stopped.value.code == 2
    assert "no family 'sofmax'" in capsys.readouterr().err


def test_help_does_not_import_torch() -> None:
    code = (
        "import sys; from kernelwright.data_synth.__main__ import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: sys.exit('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 0


def test_every_family_is_drawn_by_default() -> None:
    from kernelwright.data_synth.catalogue import FAMILIES

    assert SynthArguments().families == list(FAMILIES)
