"""The command: dispatch, suggestions, and the statuses of the three kinds of failure."""

import subprocess
import sys

import pytest

from kernelwright.cli.__main__ import main
from kernelwright.cli.commands import COMMANDS


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {each.name} " in shown and each.help in shown for each in COMMANDS)
    assert main([]) == 0
    assert capsys.readouterr().out == shown


def test_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("kernelwright 0.")


def test_an_unknown_command_is_refused_with_a_suggestion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evla"]) == 2
    assert capsys.readouterr().err == (
        "kernelwright: error: no command 'evla'; did you mean 'eval'?\n"
    )
    assert main(["zzz"]) == 2
    assert "commands: run, synth" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_traceback() -> None:
    done = subprocess.run(
        f"{sys.executable} -m kernelwright.cli doctor --json | head -1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "[\n" and "Traceback" not in done.stderr
