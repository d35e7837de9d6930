"""What a run came to, in sentences computed from its evaluations.

Models are compared on the tasks they share, task by task. A difference is called one only where its
interval leaves out zero; one run holds one training seed, so nothing is said about seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernelwright.eval import metrics
from kernelwright.eval.intervals import Estimate
from kernelwright.eval.metrics import Sample
from kernelwright.eval.paired import difference, values


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finished evaluation."""

    label: str
    summary: dict[str, Any]
    rows: list[dict[str, Any]]

    def figure(self, key: str) -> Estimate:
        return Estimate(**self.summary["metrics"].get(key, {"value": None}))


@dataclass(frozen=True, slots=True)
class Change:
    """One figure from one model to another."""

    title: str
    before: Evaluation
    after: Evaluation
    left: Estimate
    right: Estimate
    paired: Estimate

    @property
    def tone(self) -> str:
        """``better``, ``worse`` or ``level``: whether the paired interval leaves out zero."""
        lower, upper = self.paired.lower, self.paired.upper
        if lower is not None and lower > 0:
            return "better"
        return "worse" if upper is not None and upper < 0 else "level"

    @property
    def sentence(self) -> str:
        if self.paired.lower is None:
            told = "there are too few common tasks for an interval of the change"
        else:
            told = (
                f"paired by task, the change in points is {points(self.paired)}: {self.judgement}"
            )
        return (
            f"{self.title} on held-out tasks: {percent(self.left)} for {self.before.label}, "
            f"{percent(self.right)} for {self.after.label}. "
            f"The intervals {self._overlap()}; {told}."
        )

    @property
    def judgement(self) -> str:
        return "no evidence of a change" if self.tone == "level" else self.tone

    def _overlap(self) -> str:
        bounds = (self.left.lower, self.left.upper, self.right.lower, self.right.upper)
        if any(each is None for each in bounds):
            return "are not known"
        low, high, low2, high2 = (each or 0.0 for each in bounds)
        return "overlap" if low <= high2 and low2 <= high else "do not overlap"


def changes(evaluations: Sequence[Evaluation]) -> list[Change]:
    """From the first model to the last in speed and in correctness, then the last step alone."""
    if len(evaluations) < 2:
        return []
    first, last = evaluations[0], evaluations[-1]
    pairs = [(first, last)] + ([(evaluations[-2], last)] if len(evaluations) > 2 else [])
    found = []
    for before, after in pairs:
        for name in before.summary["baselines"]:
            if name in after.summary["baselines"]:
                found.append(_change(f"Faster Rate over {name}", f"faster/{name}", before, after))
        key = f"avg@{before.summary['samples_per_task']}"
        found.append(_change("Share of correct answers", key, before, after))
    return found


def _change(title: str, key: str, before: Evaluation, after: Evaluation) -> Change:
    value = values(before.summary["baselines"])["correct" if key.startswith("avg") else key]
    samples = [metrics.groups([Sample.from_row(r) for r in e.rows]) for e in (after, before)]
    own = f"avg@{after.summary['samples_per_task']}" if key.startswith("avg") else key
    paired = difference(samples[0], samples[1], value)
    return Change(title, before, after, before.figure(key), after.figure(own), paired)


def percent(estimate: Estimate) -> str:
    """As ``31 % [20, 43]``."""
    if estimate.value is None:
        return "none measured"
    bounds = (estimate.lower, estimate.upper)
    tail = "" if None in bounds else f" [{', '.join(f'{100 * (b or 0):.0f}' for b in bounds)}]"
    return f"{100 * estimate.value:.0f} %{tail}"


def points(estimate: Estimate) -> str:
    """A difference of shares, as ``+43 [+30, +56]``."""
    if estimate.value is None:
        return "–"
    value, lower, upper = (
        f"{round(100 * (each or 0.0)):+d}".replace("-", "−")
        for each in (estimate.value, estimate.lower, estimate.upper)
    )
    return value if estimate.lower is None else f"{value} [{lower}, {upper}]"
