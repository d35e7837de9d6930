"""From verified samples to training rows: diverse representatives, one of them drawn each epoch."""

import random
from collections.abc import Iterable, Sequence
from typing import Any

from kernelwright.policy.generate import batch_seed
from kernelwright.rewards.candidate import extract
from kernelwright.rewards.verdict import Status
from kernelwright.sft.diversity import choose


def representatives(rows: Iterable[dict[str, Any]], count: int) -> dict[str, list[str]]:
    """Per task id at most *count* verified completions that differ; tasks without one are absent.

    All verified completions take part: copies of one source, but for spacing and comments, are one.
    """
    positives: dict[str, list[str]] = {}
    for row in rows:
        if row["verdict"]["status"] == Status.OK:
            positives.setdefault(row["task"], []).append(row["completion"])
    return {
        task: [found[place] for place in choose([extract(text) for text in found], count)]
        for task, found in sorted(positives.items())
    }


def split(tasks: Sequence[str], share: float) -> tuple[list[str], list[str]]:
    """*tasks* for training and for validation: about *share* of them, one at least if not none."""
    shuffled = sorted(tasks, key=lambda task: batch_seed("validation", task))
    held = min(max(1, round(share * len(tasks))), len(tasks) - 1) if share > 0 else 0
    return sorted(shuffled[held:]), sorted(shuffled[:held])


def epochs(
    members: dict[str, list[str]], tasks: Sequence[str], rows: int, seed: int
) -> list[tuple[str, str]]:
    """*rows* (task, completion) pairs: epoch after epoch over *tasks*, each in an order of its own.

    In each epoch each task appears once, with one of its *members* drawn at random.
    """
    laid: list[tuple[str, str]] = []
    epoch = 0
    while len(laid) < rows:
        rng = random.Random(f"{seed}/{epoch}")
        order = list(tasks)
        rng.shuffle(order)
        laid += [(task, rng.choice(members[task])) for task in order]
        epoch += 1
    return laid[:rows]
