"""Tasks from the catalogue: families in turn, no reference twice, training and evaluation apart.

Drawing is deterministic and a larger draw begins with the smaller one, so a resumed run can ask for
more. Nothing is verified here.
"""

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelwright.configs.errors import UserError
from kernelwright.data_synth.catalogue import sample
from kernelwright.data_synth.spec import Spec
from kernelwright.data_synth.split import covered, held_out
from kernelwright.rewards.task import Task

LICENCE = "Apache-2.0"
PROVENANCE = "templates"
TRIES = 200
"""Draws in a row without a new task after which a family counts as exhausted."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A task and the answers to verify, mechanism to source."""

    task: Task
    answers: dict[str, str]


def draw(
    families: Sequence[str], seed: int, tasks: int, eval_tasks: int, eval_share: float
) -> tuple[list[Drawn], list[Drawn]]:
    """*tasks* to train on and *eval_tasks* of compositions held out from them.

    `UserError` where the families do not hold as many.
    """

    def out(spec: Spec) -> bool:
        return held_out(spec.family, spec.operators, eval_share)

    train = _fill(families, f"train:{seed}", tasks, lambda spec: not out(spec))
    if len(train) < tasks:
        raise UserError(f"the families hold {len(train)} different tasks, not {tasks}: lower tasks")
    known = [each.task.operators for each in train]
    held = _fill(
        families,
        f"eval:{seed}",
        eval_tasks,
        lambda spec: out(spec) and covered(spec.operators, known),
    )
    if len(held) < eval_tasks:
        raise UserError(
            f"only {len(held)} of {eval_tasks} eval tasks are held out and made of operators that "
            "the training tasks hold: raise tasks or eval_share, or lower eval_tasks"
        )
    return train, held


def chosen(
    answers: dict[str, str], mechanisms: Sequence[str], most: int, key: str
) -> dict[str, str]:
    """Those of *answers* whose mechanism is in *mechanisms* (empty: all), at most *most* (0: all).

    Which ones depends on *key* alone; the catalogue's order is kept.
    """
    names = [name for name in answers if not mechanisms or name in mechanisms]
    if most and len(names) > most:
        drawn = random.Random(f"answers:{key}").sample(names, most)
        names = [name for name in names if name in drawn]
    return {name: answers[name] for name in names}


def as_task(spec: Spec) -> Task:
    """*spec*'s reference as a `Task`, named after its family and content."""
    content = hashlib.sha256(f"{spec.mode}\0{spec.reference}".encode()).hexdigest()[:10]
    return Task(
        id=f"{spec.family}-{content}",
        source=spec.reference,
        mode=spec.mode,
        family=spec.family,
        operators=spec.operators,
        level=1 if len(spec.operators) == 1 else 2,
        provenance=PROVENANCE,
        licence=LICENCE,
        domains=spec.domains,
    )


def _fill(
    families: Sequence[str], stream: str, wanted: int, accept: Callable[[Spec], bool]
) -> list[Drawn]:
    """Up to *wanted* tasks that *accept* admits, one of each family in turn until none has more."""
    drawn: list[Drawn] = []
    seen: set[str] = set()
    seeds = {family: random.Random(f"{stream}:{family}") for family in families}
    while seeds and len(drawn) < wanted:
        for family in list(seeds):
            if len(drawn) == wanted:
                break
            for _ in range(TRIES):
                spec = sample(family, seeds[family].getrandbits(48))
                task = as_task(spec)
                if task.id not in seen and accept(spec):
                    seen.add(task.id)
                    drawn.append(Drawn(task, spec.answers))
                    break
            else:
                del seeds[family]
    return drawn
