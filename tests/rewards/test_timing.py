"""Intervals hold what they promise; blocks alternate; sampling stops on spread alone."""

import random
import statistics

import pytest

from kernelwright.rewards.timing import (
    MORE_PROCESSES,
    PROCESSES,
    Plan,
    interval,
    measure,
    settled,
)


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
    import time

    def spin(seconds: float):  # type: ignore[no-untyped-def]
        def block(n: int, _start: int) -> None:
            end = time.perf_counter() + n * seconds
            while time.perf_counter() < end:
                pass

        return block

    plan = Plan(block_s=0.004, rounds=3, pause_s=0.0)
    ratios = []
    for seed in range(3):
        took = measure({"a": spin(1e-4), "b": spin(2e-4)}, plan, random.Random(seed))
        ratios.append(took["b"] / took["a"])
    assert statistics.median(ratios) == pytest.approx(2.0, rel=0.1)
