"""Two models on the same tasks, compared task by task.

The interval is a bootstrap over tasks of the mean difference. It holds what other tasks would have
given; what another training seed would have given is not in it, so seeds are shown apart.
"""

from collections.abc import Callable, Sequence
from statistics import mean

from kernelwright.eval import metrics
from kernelwright.eval.intervals import Estimate, bootstrap_mean
from kernelwright.eval.metrics import Group, Sample

Value = Callable[[Sample], float]


def values(baselines: Sequence[str]) -> dict[str, Value]:
    """What is compared, by name: a number of one scored sample."""
    return {
        "compiled": lambda sample: float(sample.compiled),
        "correct": lambda sample: float(sample.correct),
        **{f"faster/{name}": _number(metrics.faster(name)) for name in baselines},
        "reward": lambda sample: sample.reward or 0.0,
    }


def difference(
    ours: Sequence[Group], theirs: Sequence[Group], value: Value, seed: int = 0
) -> Estimate:
    """Mean over common tasks of *value* in *ours* less that in *theirs*."""
    left, right = _by_task(ours, value), _by_task(theirs, value)
    return bootstrap_mean([left[task] - right[task] for task in left if task in right], seed)


def _by_task(tasks: Sequence[Group], value: Value) -> dict[str, float]:
    return {each[0].task: mean(map(value, each)) for each in tasks}


def _number(holds: Callable[[Sample], bool]) -> Value:
    return lambda sample: float(holds(sample))
