"""The run folder: never written over by accident, readable after a kill, plain on a full disk."""

import json
import os
from pathlib import Path

import numpy
import pytest
import yaml

from kernelwright.configs.errors import UserError, one_line
from kernelwright.configs.run_folder import RunFolder


def test_the_config_is_written_first(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path / "a" / "run", {"seed": 1, "families": ["relu"]})
    assert yaml.safe_load((run.path / "config.yaml").read_text()) == {
        "seed": 1,
        "families": ["relu"],
    }
    assert run.read("metrics.jsonl") == []


def test_an_existing_run_is_refused_unless_told(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path / "run", {})
    run.append("metrics.jsonl", {"step": 1})
    with pytest.raises(UserError, match="exists; add --resume true or --overwrite true"):
        RunFolder.open(run.path, {})
    assert RunFolder.open(run.path, {}, resume=True).read("metrics.jsonl") == [{"step": 1}]
    assert RunFolder.open(run.path, {}, overwrite=True).read("metrics.jsonl") == []
    with pytest.raises(UserError, match="contradict"):
        RunFolder.open(run.path, {}, resume=True, overwrite=True)


def test_overwrite_deletes_nothing_but_a_run_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="not a run folder"):
        RunFolder.open(tmp_path, {}, overwrite=True)
    assert (tmp_path / "thesis.tex").exists()


def test_a_line_torn_by_a_kill_is_dropped_and_then_cut_off(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path / "run", {})
    run.append("samples.jsonl", {"step": 1})
    with (run.path / "samples.jsonl").open("a") as file:
        file.write('{"step": 2, "completion": "tor')
    assert run.read("samples.jsonl") == [{"step": 1}]
    again = RunFolder.open(run.path, {}, resume=True)
    again.append("samples.jsonl", {"step": 2})
    assert again.read("samples.jsonl") == [{"step": 1}, {"step": 2}]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path / "run", {})
    (run.path / "metrics.jsonl").write_text('{"step": 1}\nrubbish\n{"step": 2}\n')
    with pytest.raises(UserError, match="line 2 is not JSON"):
        run.read("metrics.jsonl")


def test_numbers_that_are_no_json_are_written_as_null(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path / "run", {})
    run.append(
        "metrics.jsonl", {"loss": float("nan"), "n": numpy.int64(3), "x": numpy.float32(0.5)}
    )
    line = (run.path / "metrics.jsonl").read_text()
    assert json.loads(line) == {"loss": None, "n": 3, "x": 0.5} and "NaN" not in line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line_with_the_cure(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path / "run", {})
    os.symlink("/dev/full", run.path / "metrics.jsonl")
    with pytest.raises(UserError, match=r"disk is full.*--resume true"):
        run.append("metrics.jsonl", {"step": 1})


def test_only_the_first_process_of_a_launch_prepares_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = RunFolder.open(tmp_path / "run", {"seed": 1})
    monkeypatch.setenv("RANK", "1")
    second = RunFolder.open(tmp_path / "run", {"seed": 1})
    second.append("samples.jsonl", {"rank": 1})
    assert first.read("samples.jsonl") == [{"rank": 1}]


def test_one_line_turns_the_users_mistake_into_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    @one_line
    def main(argv: list[str] | None = None) -> int:
        raise UserError(f"no file {argv}; make one")

    assert main(["x"]) == 2
    assert capsys.readouterr().err == "kernelwright: error: no file ['x']; make one\n"
