"""``doctor`` and ``backends``: they look at the real machine, so the claims are about form."""

import json

import pytest

from kernelwright.cli.__main__ import main


def test_doctor_tells_a_cure_for_everything_that_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = main(["doctor", "--json"])
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert {"python", "torch", "cpu", "memory", "disk", "g++", "backend cpu"} <= set(found)
    assert any(name.startswith("sandbox ") for name in found)
    assert all(each["cure"] for each in found.values() if each["value"] == "missing")
    needed = [each for each in found.values() if each["needed"] and each["cure"] is not None]
    assert status == (1 if needed else 0)


def test_doctor_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor"])
    shown = capsys.readouterr().out
    assert "g++" in shown and "sandbox" in shown


def test_backends_are_listed_with_their_state(capsys: pytest.CaptureFixture[str]) -> None:
    main(["backends"])
    assert "cpu" in capsys.readouterr().out
