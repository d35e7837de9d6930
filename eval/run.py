"""Sample, judge and write down: the rows of an evaluation, resumable to the row.

Tasks are sampled in fixed chunks, each from a seed of its own, so that a resumed evaluation draws
the same answers again and only judges those that have no verdict yet. Sampling and judging take
turns: a kernel is timed while nothing else computes.
"""

from collections.abc import Callable, Iterator, Sequence
from threading import Semaphore
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kernelwright.configs.run_folder import RunFolder
from kernelwright.eval.arguments import EvalArguments
from kernelwright.policy.generate import Completion, batch_seed, sample
from kernelwright.rewards.outage import refuse_outage
from kernelwright.rewards.prompt import messages
from kernelwright.rewards.record import to_plain
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status, Verdict
from kernelwright.rewards.verifier import LocalVerifier

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def evaluate(
    own: EvalArguments,
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    tasks: Sequence[Task],
    verifier: LocalVerifier,
    run: RunFolder,
) -> list[dict[str, Any]]:
    """All rows of ``samples.jsonl``; what an earlier process wrote there is not done again."""
    n = own.samples_per_task
    done = {(row["task"], row["sample"]) for row in run.read("samples.jsonl")}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn()) as progress:
        bar = progress.add_task("samples", total=len(tasks) * n, completed=len(done))
        for seed, chunk in _chunks(own, tasks):
            wanted = [(t, i) for t in chunk for i in range(n) if (t.id, i) not in done]
            if not wanted:
                continue
            prompts = [messages(task, own.backend, own.prompt_style) for task in chunk]
            drawn = sample(
                model,
                tokenizer,
                prompts,
                n=n,
                temperature=own.temperature,
                top_p=own.top_p,
                max_new_tokens=own.max_new_tokens,
                seed=seed,
                batch_size=own.batch_size,
            )
            answers = {task.id: each for task, each in zip(chunk, drawn, strict=True)}
            judged = [(task, index, answers[task.id][index]) for task, index in wanted]
            _judge(judged, verifier, run, lambda: progress.advance(bar))
    return run.read("samples.jsonl")


def _chunks(own: EvalArguments, tasks: Sequence[Task]) -> Iterator[tuple[int, Sequence[Task]]]:
    """Tasks sampled together, as many as fill a batch, with their seed."""
    size = max(1, own.batch_size // own.samples_per_task)
    for first in range(0, len(tasks), size):
        yield batch_seed(own.seed, first), tasks[first : first + size]


def _judge(
    judged: Sequence[tuple[Task, int, Completion]],
    verifier: LocalVerifier,
    run: RunFolder,
    advance: Callable[[], None],
) -> None:
    lost: list[Exception] = []
    kept = Semaphore(0)

    def keep(place: int, verdict: Verdict) -> None:
        task, index, completion = judged[place]
        try:
            if verdict.status is not Status.INFRA_ERROR:
                _write(run, task, index, completion, verdict)
        except Exception as error:  # on the verifier's thread, where it would be swallowed
            lost.append(error)
        advance()
        kept.release()

    verdicts = verifier.verify_all([(task, answer.text) for task, _, answer in judged], keep)
    for _ in judged:  # the last verdicts may still be on their way to the file
        kept.acquire()
    if lost:
        raise lost[0]
    refuse_outage(verdicts)  # before its rows are written, so that a resumed run tries them again
    for (task, index, completion), verdict in zip(judged, verdicts, strict=True):
        if verdict.status is Status.INFRA_ERROR:
            _write(run, task, index, completion, verdict)


def _write(
    run: RunFolder, task: Task, index: int, completion: Completion, verdict: Verdict
) -> None:
    row = {
        "step": 0,
        "task": task.id,
        "sample": index,
        "family": task.family,
        "completion": completion.text,
        "tokens": completion.tokens,
        "truncated": completion.truncated,
        "reward": verdict.reward,
        "verdict": to_plain(verdict),
    }
    run.append("samples.jsonl", row)
    if verdict.status is Status.INFRA_ERROR:
        run.append("infra.jsonl", row)
