"""Choose among right answers a few that differ: in text, in structure and in mechanism.

The distance of two sources is the mean of three: what share of their token runs they do not share,
the same with names and numbers blotted out (structure), and how far apart they are in counts of
what kernels are made of. Nothing here measures speed, and nothing is run.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MECHANISMS = (
    r"__global__",
    r"<<<",
    r"__shared__",
    r"atomic\w*\s*\(",
    r"__shfl\w*",
    r"\bomp parallel\b",
    r"\bsimd\b",
    r"\breduction\(",
    r"\bfor\s*\(",
    r"torch::(?:empty|zeros)\w*",
    r"^(?:\w[\w:<>*& ]*)\s+\w+\([^;]*\)\s*\{",
    r"_mm\d*_",
    r"\bdouble\b",
)
"""Kernels, launches, shared memory, atomics, shuffles, threads, vector loops, reduction style,
loops and intermediate tensors (both tell how far operators are fused), functions, intrinsics and
wide accumulators."""
_TOKEN = re.compile(r"\d[\w.]*|\w+|[^\w\s]")
_COMMENT = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?m:^\s*#(?!\s*(?:include|pragma|define|if|endif)).*$)", re.S
)
_RUN = 5
_WORDS = r"""for|if|else|while|return|float|double|int|int64_t|const|auto|void|class|def|omp|
parallel|simd|reduction|pragma|include|torch"""
_KEYWORD = re.compile(_WORDS, re.VERBOSE)


@dataclass(frozen=True, slots=True)
class Profile:
    """What two sources are compared by."""

    runs: frozenset[tuple[str, ...]]
    structure: frozenset[tuple[str, ...]]
    counts: tuple[int, ...]
    text: str
    """The source without comments and spacing."""


def profile(source: str) -> Profile:
    """The profile of *source*."""
    bare = _COMMENT.sub("", source)
    tokens = _TOKEN.findall(bare)
    blotted = [_blotted(token) for token in tokens]
    counts = tuple(len(re.findall(pattern, bare, re.M)) for pattern in MECHANISMS)
    return Profile(_runs(tokens), _runs(blotted), counts, " ".join(tokens))


def distance(one: Profile, other: Profile) -> float:
    """How unlike two sources are, from 0 to 1."""
    apart = [
        abs(a - b) / max(a, b) for a, b in zip(one.counts, other.counts, strict=True) if a or b
    ]
    mechanism = sum(apart) / len(apart) if apart else 0.0
    text = _unshared(one.runs, other.runs)
    structure = _unshared(one.structure, other.structure)
    return (text + structure + mechanism) / 3


def choose(sources: Sequence[str], count: int) -> list[int]:
    """Places of at most *count* sources that lie far apart, greedily, in the order chosen.

    The first is the most typical one; a copy, but for comments and spacing, is never chosen.
    """
    profiles = [profile(source) for source in sources]
    first_of: dict[str, int] = {}
    for place, each in enumerate(profiles):
        first_of.setdefault(each.text, place)
    left = list(first_of.values())
    if not left:
        return []
    table = {
        (a, b): distance(profiles[a], profiles[b]) if a != b else 0.0 for a in left for b in left
    }
    chosen = [min(left, key=lambda a: (sum(table[a, b] for b in left), a))]
    while len(chosen) < min(count, len(left)):
        rest = [place for place in left if place not in chosen]
        chosen.append(max(rest, key=lambda a: (min(table[a, b] for b in chosen), -a)))
    return chosen


def _blotted(token: str) -> str:
    if _KEYWORD.fullmatch(token) or not (token[0].isalnum() or token[0] == "_"):
        return token
    return "0" if token[0].isdigit() else "x"


def _runs(tokens: list[str]) -> frozenset[tuple[str, ...]]:
    size = min(_RUN, len(tokens))
    return frozenset(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))


def _unshared(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    return 1 - len(one & other) / len(one | other) if one | other else 0.0
