"""Which compositions are held out for evaluation: decided by a hash, never by a draw.

A composition is a family and its operators in order. Single operators are never held out, so what
is evaluated is new arrangements of operators that training can know; `covered` is the check that
a training set does know them. This says nothing about overlap with public benchmarks.
"""

import hashlib
from collections.abc import Iterable, Sequence


def held_out(family: str, operators: Sequence[str], share: float) -> bool:
    """Is this composition among the *share* (0 to 1) kept for evaluation?"""
    return len(operators) > 1 and _place(f"{family}:{'>'.join(operators)}") < share


def validation(task_id: str, share: float) -> bool:
    """Is this training task among the *share* whose answers only validate?"""
    return _place(f"valid:{task_id}") < share


def covered(operators: Iterable[str], trained: Iterable[Iterable[str]]) -> bool:
    """Does each of *operators* occur in one of the compositions *trained*?"""
    return set(operators) <= {name for each in trained for name in each}


def _place(text: str) -> float:
    """A number in [0, 1) that depends on *text* alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
