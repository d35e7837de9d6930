"""A few held-out tasks to look at: the reference, each model's best answer, and what failed.

Tasks are chosen by rule, not by taste: the largest, the middle and the smallest speed-up of the
last model's best answers, so that the page does not show luck alone. Text stays raw: the page
escapes it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kernelwright.eval.headline import Evaluation
from kernelwright.rewards.candidate import ExtractError, extract
from kernelwright.rewards.record import from_plain
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Interval, Status, Verdict

MAX_CHARS = 7000
FAILURES = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """One judged completion as it is shown."""

    title: str
    verdict: Verdict
    source: str
    count: str = ""
    """How the other samples for the task went."""

    @property
    def speedups(self) -> list[tuple[str, Interval]]:
        return list(self.verdict.speedup.items())


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A task and each model's best answer to it."""

    task: str
    family: str
    why: str
    reference: str
    """Empty where the task's text is not at hand."""
    answers: list[Answer]


def exhibits(evaluations: Sequence[Evaluation], tasks: dict[str, Task]) -> list[Exhibit]:
    """Up to three tasks that the last model solves."""
    if not evaluations:
        return []
    by_task = [_by_task(each.rows) for each in evaluations]
    best = {task: _best(rows) for task, rows in by_task[-1].items()}
    solved = sorted(
        (task for task, row in best.items() if _status(row) == Status.OK),
        key=lambda task: _speed(best[task]),
        reverse=True,
    )
    places = {
        0: "largest speed-up",
        len(solved) // 2: "middle",
        len(solved) - 1: "smallest speed-up",
    }
    found = []
    for place in sorted(places) if solved else ():
        task = solved[place]
        why = places[place] if len(solved) > 1 else "the one task solved"
        answers = [
            _answer(each.label, _best(rows[task]), _count(rows[task]))
            for each, rows in _ends(list(zip(evaluations, by_task, strict=True)))
            if task in rows
        ]
        reference = tasks[task].source if task in tasks else ""
        found.append(Exhibit(task, best[task]["family"], why, _short(reference), answers))
    return found


def failures(rows: Sequence[dict[str, Any]]) -> list[Answer]:
    """The first sample of each of the commonest ways to fail; a cheat first, if there is any."""
    failed = [row for row in rows if _status(row) not in (Status.OK, Status.INFRA_ERROR)]
    common = Counter(map(_status, failed))
    kinds = sorted(common, key=lambda kind: (kind != Status.CHEATING, -common[kind]))
    return [
        _answer(row["task"], row, f"{common[kind]} of {len(rows)} samples ended so")
        for kind in kinds[:FAILURES]
        for row in [next(row for row in failed if _status(row) == kind)]
    ]


def _ends(items: list[Any]) -> list[Any]:
    return items if len(items) < 3 else [items[0], items[-1]]


def _by_task(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["task"]].append(row)
    return found


def _best(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return max(
        rows, key=lambda row: (_status(row) == Status.OK, _speed(row), row["reward"] or -2.0)
    )


def _speed(row: dict[str, Any]) -> float:
    """Lower bound over the fastest baseline; 0 for what was not timed."""
    return min((each["lower"] for each in row["verdict"]["speedup"].values()), default=0.0)


def _status(row: dict[str, Any]) -> str:
    return str(row["verdict"]["status"])


def _count(rows: Sequence[dict[str, Any]]) -> str:
    right = sum(_status(row) == Status.OK for row in rows)
    return f"the best of {len(rows)} samples, {right} of them right"


def _answer(title: str, row: dict[str, Any], count: str) -> Answer:
    try:
        source = extract(row["completion"])
    except ExtractError:
        source = row["completion"]
    return Answer(title, from_plain(Verdict, row["verdict"]), _short(source), count)


def _short(text: str) -> str:
    text = text.strip()
    if len(text) <= MAX_CHARS:
        return text
    return f"{text[:MAX_CHARS]}\n[{len(text) - MAX_CHARS} characters more]"
