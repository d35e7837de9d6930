"""Intervals hold what they promise; blocks alternate; sampling stops on spread alone."""

import random
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernelwright.rewards.timing import (
    MORE_PROCESSES,
    PROCESSES,
    Contender,
    Plan,
    interval,
    measure,
    settled,
)
from kernelwright.rewards.workers import family, signal_family


def test_interval_holds_the_true_ratio_as_often_as_it_says() -> None:
    draw = random.Random(0)
    held = {PROCESSES: 0, MORE_PROCESSES: 0}
    rounds = 4000
    for count in held:
        for _ in range(rounds):
            found = interval([draw.lognormvariate(0.0, 0.3) for _ in range(count)])
            held[count] += found.lower <= 1.0 <= found.upper
    assert held[PROCESSES] / rounds == pytest.approx(0.9375, abs=0.015)
    assert held[MORE_PROCESSES] / rounds == pytest.approx(0.9297, abs=0.015)


def test_sampling_stops_on_spread_and_not_on_the_value() -> None:
    assert not settled([1.0] * 4)
    assert settled([1.0] * 5)
    assert not settled([1.0, 1.0, 1.0, 1.0, 1.3])
    assert settled([0.5, 0.5, 0.5, 0.5, 0.51])
    assert settled([1.0, 9.0] * 4)


def test_too_few_processes_give_no_interval() -> None:
    with pytest.raises(ValueError, match="needs 5"):
        interval([1.0, 1.1, 1.2])


def test_a_contender_that_takes_twice_as_long_measures_twice_as_slow() -> None:
    def spin(seconds: float):  # type: ignore[no-untyped-def]
        def block(n: int, _start: int) -> None:
            end = time.perf_counter() + n * seconds
            while time.perf_counter() < end:
                pass

        return Contender(block)

    plan = Plan(block_s=0.004, rounds=3)
    ratios = []
    for seed in range(3):
        took = measure({"a": spin(1e-4), "b": spin(2e-4)}, plan, random.Random(seed))
        ratios.append(took["b"] / took["a"])
    assert statistics.median(ratios) == pytest.approx(2.0, rel=0.1)


def test_only_the_contender_that_is_timed_runs() -> None:
    awake = {"a": True, "b": True}
    alone: list[bool] = []

    def contender(name: str) -> Contender:
        def block(n: int, _start: int) -> None:
            alone.append([key for key, value in awake.items() if value] == [name])
            time.sleep(n * 1e-4)

        return Contender(
            block, lambda: awake.update({name: False}), lambda: awake.update({name: True})
        )

    measure({name: contender(name) for name in awake}, Plan(block_s=0.001), random.Random(0))
    assert len(alone) > 10 and all(alone)
    assert all(awake.values())


def test_a_contender_that_fails_leaves_every_other_one_running() -> None:
    thawed: list[str] = []

    def fails(_n: int, _start: int) -> None:
        raise OSError("gone")

    contenders = {
        "a": Contender(fails, thaw=lambda: thawed.append("a")),
        "b": Contender(lambda *_: None, thaw=lambda: thawed.append("b")),
    }
    with pytest.raises(OSError, match="gone"):
        measure(contenders, Plan(), random.Random(0))
    assert "b" in thawed


def test_freezing_stops_the_threads_and_the_children_of_a_worker() -> None:
    spin = "import os, threading\nfor _ in range(1): os.fork()\n"
    spin += "threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()\nwhile 1: pass"
    process = subprocess.Popen([sys.executable, "-c", spin])

    def used() -> int:
        ticks = 0
        for pid in family(process.pid):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks

    try:
        end = time.monotonic() + 20
        while (len(family(process.pid)) < 2 or used() < 10) and time.monotonic() < end:
            time.sleep(0.05)
        signal_family(process.pid, signal.SIGSTOP)
        time.sleep(0.1)
        before = used()
        time.sleep(0.5)
        assert used() == before
        signal_family(process.pid, signal.SIGCONT)
        time.sleep(0.5)
        assert used() > before
    finally:
        signal_family(process.pid, signal.SIGKILL)
        process.wait()
