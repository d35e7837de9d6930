"""How much faster a candidate is than the baselines, as an interval, on the judge's own clock.

The judge times blocks of calls from outside: it sends the order, waits for the answer, and divides
by the number of calls, the same way for the candidate and for each baseline. Blocks of all of them
alternate in random order; block sizes are drawn, so the worker cannot foresee them; inputs rotate
within a block. Between its blocks a contender's processes are stopped: its idle threads would spin
on the cores of whoever is timed (`OpenMP`'s do for milliseconds), and a candidate's could do so on
purpose. Every fresh process gives one ratio of medians; the interval is made of those.

The interval is distribution-free: the smallest and largest of five independent ratios hold their
median with probability 1 − 2⁻⁴ = 93.75 %; where they spread by more than 15 %, three more processes
run and the second smallest and second largest of eight hold it with 93.0 %. Sampling stops on that
spread only, never on crossing a threshold. Not covered: work deferred past the answer, cold caches
beyond the rotation of inputs, locked clocks.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from kernelwright.rewards.verdict import Interval

PROCESSES = 5
MORE_PROCESSES = 8
_SPREAD = 0.15


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to measure."""

    block_s: float = 0.005
    """Length of one block; the round trip to a process takes about 0.05 ms."""
    rounds: int = 3
    """Blocks of each contender in one process."""
    warm_calls: int = 2
    """Untimed, before each block: they wake the contender's threads."""
    max_calls: int = 4000


@dataclass(frozen=True, slots=True)
class Contender:
    """Something to time."""

    block: Callable[[int, int], None]
    """Run n calls from a start index and return when the process has answered."""
    freeze: Callable[[], None] = lambda: None
    """Stop every thread it has, until `thaw`."""
    thaw: Callable[[], None] = lambda: None


def measure(
    contenders: dict[str, Contender],
    plan: Plan,
    draw: random.Random,
    calls: dict[str, int] | None = None,
) -> dict[str, float]:
    """Median seconds a call of each contender, in alternating blocks. All end up thawed.

    *calls* is how many fill a block: found out where it lacks one, and corrected by what was
    measured, for the next process.
    """
    calls = {} if calls is None else calls
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    try:
        for each in contenders.values():
            each.freeze()
        for name, each in contenders.items():
            if name not in calls:
                calls[name] = _calls(each, plan)
        for _ in range(plan.rounds):
            draw.shuffle(order)
            for name in order:
                n = max(1, round(calls[name] * draw.uniform(0.75, 1.25)))
                seconds[name].append(_timed(contenders[name], n, draw.randrange(97), plan) / n)
    finally:
        for each in contenders.values():
            each.thaw()
    medians = {name: median(values) for name, values in seconds.items()}
    calls.update({name: _filling(plan, each) for name, each in medians.items()})
    return medians


def _calls(contender: Contender, plan: Plan) -> int:
    """Calls that fill a block. The faster of two runs counts: one hiccup would make blocks so
    short that starting them is what is measured.
    """
    n = 2
    while True:
        took = min(_timed(contender, n, 0, plan) for _ in range(2))
        if took >= plan.block_s / 2 or n >= plan.max_calls:
            return _filling(plan, took / n)
        n = min(plan.max_calls, max(n * 2, int(n * plan.block_s / max(took, 1e-6))))


def _filling(plan: Plan, seconds: float) -> int:
    return max(1, min(plan.max_calls, round(plan.block_s / max(seconds, 1e-9))))


def _timed(contender: Contender, n: int, start: int, plan: Plan) -> float:
    contender.thaw()
    contender.block(plan.warm_calls, start + n)
    began = time.perf_counter()
    contender.block(n, start)
    took = time.perf_counter() - began
    contender.freeze()
    return took


def settled(ratios: list[float]) -> bool:
    """Whether these processes are enough."""
    if len(ratios) < PROCESSES:
        return False
    spread = (max(ratios) - min(ratios)) / median(ratios)
    return spread <= _SPREAD or len(ratios) >= MORE_PROCESSES


def interval(ratios: list[float]) -> Interval:
    """The interval of the module's docstring. ``ValueError`` for fewer than five ratios."""
    if len(ratios) < PROCESSES:
        raise ValueError(f"{len(ratios)} processes; an interval needs {PROCESSES}")
    ordered = sorted(ratios)
    trim = 1 if len(ordered) >= MORE_PROCESSES else 0
    return Interval(ordered[trim], median(ordered), ordered[-1 - trim])
