"""``summary.json``: every figure of an evaluation with its interval, from the rows alone.

Can be made again from ``samples.jsonl`` at any time; it judges nothing and draws only to bootstrap.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from kernelwright.eval import metrics
from kernelwright.eval.intervals import Estimate, bootstrap, bootstrap_mean, wilson
from kernelwright.eval.metrics import Group, Sample
from kernelwright.rewards.verdict import Status


def summarise(
    rows: Sequence[dict[str, Any]], model: str, n: int, baselines: Sequence[str], seed: int = 0
) -> dict[str, Any]:
    """The summary of *rows*, lines of ``samples.jsonl`` with *n* samples a task."""
    samples = [Sample.from_row(row) for row in rows]
    tasks = metrics.groups(samples)
    statuses = Counter(str(sample.status) for sample in samples)
    scored = sum(map(len, tasks))
    short = sum(len(each) < n for each in tasks)
    return {
        "model": model,
        "samples_per_task": n,
        "baselines": list(baselines),
        "counts": {
            "tasks": len({sample.task for sample in samples}),
            "tasks_scored": len(tasks),
            "tasks_short": short,
            "samples": len(samples),
            "scored": scored,
            "infra_error": statuses[Status.INFRA_ERROR],
            "invalid_problem": statuses[Status.INVALID_PROBLEM],
            "correct_untimed": sum(s.correct and not s.lower for s in samples),
        },
        "statuses": dict(statuses.most_common()),
        "metrics": {key: asdict(each) for key, each in figures(tasks, n, baselines, seed).items()},
        "wilson": {
            "compiled": asdict(wilson(sum(s.compiled for t in tasks for s in t), scored)),
            "correct": asdict(wilson(sum(s.correct for t in tasks for s in t), scored)),
        },
        "fast_p": {
            name: {
                str(p): asdict(_share(tasks, metrics.faster(name, p), seed)) for p in metrics.GRID
            }
            for name in baselines
        },
        "families": families(tasks, n, baselines),
    }


def figures(
    tasks: Sequence[Group], n: int, baselines: Sequence[str], seed: int = 0
) -> dict[str, Estimate]:
    """Each figure of *tasks* with the interval of a bootstrap over tasks."""
    found = {
        "compiled": _share(tasks, lambda sample: sample.compiled, seed),
        f"avg@{n}": _share(tasks, lambda sample: sample.correct, seed),
    }
    for k in sorted({1, n}):
        found[f"pass@{k}"] = bootstrap_mean(metrics.pass_at_k_by_task(tasks, k), seed)
    found["reward"] = bootstrap_mean(metrics.reward_by_task(tasks), seed)
    for name in baselines:
        found[f"faster/{name}"] = _share(tasks, metrics.faster(name), seed)
        found[f"speedup/{name}"] = bootstrap(
            tasks, partial(metrics.median_speedup, baseline=name), seed
        )
    return found


def families(
    tasks: Sequence[Group], n: int, baselines: Sequence[str]
) -> dict[str, dict[str, float | int | None]]:
    """The main figures by operator family, without intervals."""
    by_family: dict[str, list[Group]] = {}
    for each in tasks:
        by_family.setdefault(each[0].family, []).append(each)
    return {
        family: {
            "tasks": len(members),
            "compiled": _mean(metrics.share_by_task(members, lambda s: s.compiled)),
            f"avg@{n}": _mean(metrics.share_by_task(members, lambda s: s.correct)),
            f"pass@{n}": _mean(metrics.pass_at_k_by_task(members, n)),
            **{
                f"faster/{name}": _mean(metrics.share_by_task(members, metrics.faster(name)))
                for name in baselines
            },
        }
        for family, members in sorted(by_family.items())
    }


def _share(tasks: Sequence[Group], holds: Any, seed: int) -> Estimate:
    return bootstrap_mean(metrics.share_by_task(tasks, holds), seed)


def _mean(values: Sequence[float | None]) -> float | None:
    kept = [value for value in values if value is not None]
    return sum(kept) / len(kept) if kept else None
