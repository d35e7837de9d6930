"""Records round-trip as one line of JSON."""

import pytest

from kernelwright.rewards.record import from_line, to_line
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Gate, Interval, Status, Verdict


def test_a_verdict_round_trips_as_one_line() -> None:
    verdict = Verdict(
        Status.CHEATING,
        "dispatch:softmax",
        speedup={"eager": Interval(1.0, 1.5, 2.0)},
        gates=(Gate("trace", False, "x", 0.5), Gate("speed", None)),
        seeds=(3, 4),
        reward=-1.0,
        message="two\nlines",
    )
    line = to_line(verdict)
    assert "\n" not in line
    assert from_line(Verdict, line) == verdict


def test_a_task_round_trips_and_its_digest_covers_what_is_judged() -> None:
    task = Task("a", "source", operators=("x", "y"), domains={"0": "positive"})
    assert from_line(Task, to_line(task)) == task
    assert task.digest == Task("b", "source", domains={"0": "positive"}).digest
    assert task.digest != Task("a", "source", mode="train", domains={"0": "positive"}).digest


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(ValueError, match="Task has no field 'sauce'"):
        from_line(Task, '{"id": "a", "sauce": "x"}')
