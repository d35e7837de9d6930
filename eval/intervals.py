"""95 % intervals: a bootstrap over tasks, and Wilson's for a plain share.

Samples of one task resemble each other, so what is drawn again is tasks, never samples. Wilson's
interval takes samples as independent; it is what to read for a single task or one sample a task.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

ROUNDS = 2000
LEVEL = 0.95
_Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and the bounds that hold it in 95 of 100 repetitions."""

    value: float | None
    """None where nothing was there to measure."""
    lower: float | None = None
    upper: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        if self.lower is None or self.upper is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.lower:.3f}, {self.upper:.3f}]"


def wilson(successes: int, trials: int) -> Estimate:
    """Share of *successes*, with Wilson's score interval."""
    if trials == 0:
        return Estimate(None)
    share, z2 = successes / trials, _Z * _Z
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials**2)) / (1 + z2 / trials)
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))


def bootstrap(
    clusters: Sequence[T],
    statistic: Callable[[Sequence[T]], float | None],
    seed: int = 0,
    rounds: int = ROUNDS,
) -> Estimate:
    """*statistic* of *clusters* with its percentile interval over clusters drawn again.

    A draw for which *statistic* is None (nothing to measure in it) is left out.
    """
    value = statistic(clusters)
    if value is None or len(clusters) < 2:
        return Estimate(value)
    import numpy as np

    generator = np.random.default_rng(seed)
    size = len(clusters)
    drawn = [
        found
        for picks in generator.integers(0, size, (rounds, size)).tolist()
        if (found := statistic([clusters[pick] for pick in picks])) is not None
    ]
    return Estimate(value, *_bounds(drawn))


def bootstrap_mean(values: Sequence[float | None], seed: int = 0) -> Estimate:
    """Mean of one value a task, as `bootstrap` gives it, in one sweep; None values are left out."""
    import numpy as np

    kept = np.array([value for value in values if value is not None], dtype=float)
    if kept.size == 0:
        return Estimate(None)
    if kept.size == 1:
        return Estimate(float(kept[0]))
    picks = np.random.default_rng(seed).integers(0, kept.size, (ROUNDS, kept.size))
    return Estimate(float(kept.mean()), *_bounds(kept[picks].mean(axis=1).tolist()))


def _bounds(drawn: list[float]) -> tuple[float, float]:
    import numpy as np

    tail = (1 - LEVEL) / 2
    lower, upper = np.quantile(drawn, [tail, 1 - tail])
    return float(lower), float(upper)
