"""The figures of an evaluation, as pure functions of its rows.

A share is taken within each task first and then over tasks, so that a task with more scored
samples does not weigh more. An infra error or an invalid problem is no sample: it is in no
denominator here, and `summary` counts it apart. The bound that counts for speed is the lower one.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from kernelwright.rewards.verdict import UNSCORED, Status

FASTER = 1.1
"""A kernel is called faster when the lower bound of its speed-up is above this."""
GRID = (0.0, 0.5, 0.8, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0)
"""The p at which fast_p is given."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What the figures need to know of one judged completion."""

    task: str
    family: str
    status: Status
    compiled: bool
    """The build gate was reached and passed."""
    reward: float | None
    lower: dict[str, float]
    """Lower bound of the speed-up against each baseline timed."""
    middle: dict[str, float]
    """Its median."""

    @property
    def scored(self) -> bool:
        return self.status not in UNSCORED

    @property
    def correct(self) -> bool:
        return self.status is Status.OK

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "Sample":
        """From a line of ``samples.jsonl``."""
        verdict = row["verdict"]
        speedup = verdict.get("speedup", {})
        return cls(
            row["task"],
            row["family"],
            Status(verdict["status"]),
            any(gate["name"] == "build" and gate["passed"] for gate in verdict.get("gates", ())),
            row["reward"],
            {name: each["lower"] for name, each in speedup.items()},
            {name: each["median"] for name, each in speedup.items()},
        )


Group = list[Sample]
"""The scored samples of one task."""


def groups(samples: Sequence[Sample]) -> list[Group]:
    """Scored samples by task, in order of first appearance; a task without any is left out."""
    found: dict[str, Group] = {}
    for sample in samples:
        if sample.scored:
            found.setdefault(sample.task, []).append(sample)
    return list(found.values())


def pass_at_k(n: int, correct: int, k: int) -> float | None:
    """Probability that one of *k* out of *n* samples is correct: 1 - C(n-c, k) / C(n, k).

    Unbiased (Chen et al., 2021). None where fewer than *k* samples were scored.
    """
    if n < k:
        return None
    return 1.0 - math.comb(n - correct, k) / math.comb(n, k)


def pass_at_k_by_task(tasks: Sequence[Group], k: int) -> list[float | None]:
    """`pass_at_k` of each task."""
    return [pass_at_k(len(each), sum(s.correct for s in each), k) for each in tasks]


def share_by_task(tasks: Sequence[Group], holds: Callable[[Sample], bool]) -> list[float | None]:
    """Share of each task's samples for which *holds*; of `Sample.correct` the mean is Avg@n."""
    return [mean(map(holds, each)) for each in tasks]


def reward_by_task(tasks: Sequence[Group]) -> list[float | None]:
    """Mean reward of each task's samples."""
    return [mean(s.reward for s in each if s.reward is not None) for each in tasks]


def faster(baseline: str, p: float = FASTER) -> Callable[[Sample], bool]:
    """Whether a sample is correct, legal and surely more than *p* times as fast as *baseline*.

    A correct sample that could not be timed is not faster. With *p* 0 this is `Sample.correct`: as
    in fast_p, speed does not matter there.
    """

    def holds(sample: Sample) -> bool:
        return sample.correct and (p <= 0 or sample.lower.get(baseline, 0.0) > p)

    return holds


def median_speedup(tasks: Sequence[Group], baseline: str) -> float | None:
    """Median speed-up over correct, timed samples; None where there is none."""
    found = [
        sample.middle[baseline]
        for each in tasks
        for sample in each
        if sample.correct and baseline in sample.middle
    ]
    return median(found) if found else None
