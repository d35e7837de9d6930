"""The curves of a report: what evaluations and training logged, as plots with captions.

Shares and speeds over training steps come from the samples themselves, so that a figure means the
same here as in an evaluation.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from kernelwright.eval import plots
from kernelwright.eval.headline import Evaluation
from kernelwright.eval.metrics import FASTER, Sample, faster
from kernelwright.eval.stages import Stage

Row = dict[str, Any]

SMALL = {
    "kl": ("KL to the starting policy", "nats a token", False),
    "entropy": ("Entropy", "nats a token", False),
    "completions/mean_length": ("Length of an answer", "tokens", False),
    "completions/clipped_ratio": ("Answers cut off", "share", True),
    "frac_reward_zero_std": ("Groups without a difference", "share", True),
    "grad_norm": ("Gradient norm", "before clipping", False),
    "verify_share": ("Time spent waiting for the verifier", "share of a step", True),
}
"""What the trainer logs, worth a small plot each: title, unit, whether it is a share."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot with its caption."""

    caption: str
    svg: str
    key: tuple[tuple[str, str], ...] = ()
    """Names of colours, where the plot itself has no legend."""


def fast_p(evaluations: Sequence[Evaluation]) -> list[Figure]:
    """The share of answers surely faster than p, by p, for each baseline."""
    found = []
    for name in dict.fromkeys(b for each in evaluations for b in each.summary["baselines"]):
        series = {each.label: _grid(each.summary["fast_p"].get(name, {})) for each in evaluations}
        series = {label: points for label, points in series.items() if points}
        if series:
            svg = plots.banded(series, f"p, times as fast as {name}", "share of answers", True)
            title = f"Correct, and the lower bound of the speed-up over {name} above p"
            found.append(Figure(title, svg))
    return found


def _grid(found: Row) -> list[tuple[float, float, float, float]]:
    """Points of `plots.banded`; a figure of a single task has no interval and so no band."""
    points = []
    for p, each in found.items():
        if (value := each["value"]) is not None:
            lower, upper = each["lower"], each["upper"]
            band = (value, value) if lower is None or upper is None else (lower, upper)
            points.append((float(p), band[0], value, band[1]))
    return points


def losses(stage: Stage) -> list[Figure]:
    """Training and validation loss of an sft stage; nothing where none was logged."""
    keys = {"training": "loss", "validation": "eval_loss"}
    series = {name: _points(stage.metrics, key) for name, key in keys.items()}
    series = {name: points for name, points in series.items() if points}
    if not series:
        return []
    return [Figure(stage.name, plots.lines(series, "step", "loss, nats a token"))]


def rl_curves(stage: Stage) -> list[Figure]:
    """What changed over the steps of an rl stage, from every sample it judged."""
    by_step: dict[int, list[Row]] = {}
    for row in stage.samples:
        by_step.setdefault(row["step"], []).append(row)
    steps = sorted(by_step)
    if not steps:
        return []
    baseline = next(iter(stage.config.get("baselines") or ["eager"]))
    rewards, fast, speed = [], [], []
    shares: dict[str, list[float]] = {name: [] for name in plots.STATUS}
    for step in steps:
        rows = by_step[step]
        counts = Counter(row["verdict"]["status"] for row in rows)
        for name, values in shares.items():
            values.append(counts[name] / len(rows))
        scored = [row["reward"] for row in rows if row["reward"] is not None]
        if scored:
            rewards.append((step, *_spread(scored)))
        samples = [each for each in map(Sample.from_row, rows) if each.scored]
        if samples:
            fast.append((step, mean(map(faster(baseline), samples))))
        if timed := [s.middle[baseline] for s in samples if s.correct and baseline in s.middle]:
            speed.append((step, median(timed)))
    svg = plots.stacked(shares, steps, "step", "share of answers")
    key = tuple((n, plots.css(c)) for n, c in plots.STATUS.items() if any(shares[n]))
    found = [Figure("How answers ended", svg, key)]
    if rewards:
        svg = plots.banded({"reward": rewards}, "step", "reward")
        found.insert(0, Figure("Reward: mean, and the middle 80 % of a step's answers", svg))
    if fast:
        title = f"Faster Rate: correct, lower bound of the speed-up over {baseline} above {FASTER}"
        svg = plots.smoothed(fast, "step", "share of answers", share=True)
        found.append(
            Figure(
                title,
                svg,
            )
        )
    if speed:
        svg = plots.smoothed(speed, "step", f"times as fast as {baseline}", level=1.0)
        found.append(Figure("Median speed-up of correct answers", svg))
    return found


def rl_small(stage: Stage) -> list[Figure]:
    """Small plots of what the trainer logs; keys that are absent are left out."""
    found = []
    for key, (title, unit, share) in SMALL.items():
        if points := _points(stage.metrics, key):
            svg = plots.lines({title: points}, "step", unit, share, small=True)
            found.append(Figure(title, svg))
    return found


def _points(rows: Sequence[Row], key: str) -> list[tuple[float, float]]:
    return [(row["step"], row[key]) for row in rows if row.get(key) is not None]


def _spread(values: Sequence[float]) -> tuple[float, float, float]:
    import numpy as np

    lower, upper = np.quantile(values, [0.1, 0.9])
    return float(lower), mean(values), float(upper)
