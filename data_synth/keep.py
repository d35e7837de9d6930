"""Only what verifies is kept: answers through the verifier, one line each as its verdict arrives.

Three files take the lines: ``pairs.jsonl`` (right answers to train on), ``eval_answers.jsonl``
(right answers of held-out tasks, never for training) and ``rejected.jsonl``. What stands in one of
them is not verified again. An infra error stands in none: a resumed run tries it again.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kernelwright.configs.run_folder import RunFolder
from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.outage import refuse_outage
from kernelwright.rewards.prompt import answer, messages
from kernelwright.rewards.record import to_line, to_plain
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status, Verdict

if TYPE_CHECKING:
    from kernelwright.rewards.verifier import LocalVerifier

PAIRS, EVAL_ANSWERS, REJECTED = "pairs.jsonl", "eval_answers.jsonl", "rejected.jsonl"
FILES = (PAIRS, EVAL_ANSWERS, REJECTED)
CHUNK = 32
"""Pairs handed to the verifier at once: it certifies all their tasks before it judges the first."""


@dataclass(frozen=True, slots=True)
class Question:
    """One answer to verify, and where it belongs."""

    task: Task
    mechanism: str
    source: str
    split: str
    """``train``, ``valid`` or ``eval``."""

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same question in a later run."""
        return self.task.id, self.source


def verify(
    folder: RunFolder,
    questions: list[Question],
    verifier: "LocalVerifier",
    backend: str,
    style: str,
) -> int:
    """Verify what *folder* does not know yet; the number of questions without a verdict."""
    unscored = 0
    with _bar() as progress:
        bar = progress.add_task("verifying", total=len(questions))
        for start in range(0, len(questions), CHUNK):
            chunk = questions[start : start + CHUNK]
            failures: list[Exception] = []

            def arrived(index: int, verdict: Verdict, chunk=chunk, failures=failures) -> None:
                progress.advance(bar)
                try:  # an exception in a callback would be lost with the verdict
                    _write(folder, chunk[index], verdict, backend, style)
                except Exception as error:
                    failures.append(error)

            pairs = [(each.task, Candidate.from_source(each.source)) for each in chunk]
            verdicts = verifier.verify_all(pairs, on_verdict=arrived)
            if failures:
                raise failures[0]
            refuse_outage(verdicts)
            unscored += sum(verdict.status is Status.INFRA_ERROR for verdict in verdicts)
    return unscored


def remaining(folder: RunFolder, questions: Iterable[Question]) -> list[Question]:
    """Those of *questions* that no file of *folder* answers."""
    known = {(row["task_id"], row["source"]) for name in FILES for row in folder.read(name)}
    return [each for each in questions if each.key not in known]


def row(question: Question, verdict: Verdict, backend: str, style: str) -> dict[str, Any]:
    """One line of data: the pair as chat messages, and how it was judged."""
    return {
        "task_id": question.task.id,
        "family": question.task.family,
        "mechanism": question.mechanism,
        "split": question.split,
        "prompt": messages(question.task, backend, style),
        "completion": [{"role": "assistant", "content": answer(question.source)}],
        "source": question.source,
        "task": to_plain(question.task),
        "verdict": to_line(verdict),
    }


def status(line: dict[str, Any]) -> str:
    """``status`` or ``status:detail`` of a row's verdict."""
    verdict = json.loads(line["verdict"])
    return ":".join(part for part in (verdict["status"], verdict["detail"]) if part)


def _write(
    folder: RunFolder, question: Question, verdict: Verdict, backend: str, style: str
) -> None:
    if verdict.status is Status.INFRA_ERROR:
        return
    if verdict.status is Status.OK:
        name = EVAL_ANSWERS if question.split == "eval" else PAIRS
    else:
        name = REJECTED
    folder.append(name, row(question, verdict, backend, style))


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )
