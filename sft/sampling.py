"""Answers of a policy to its training tasks, each with a verdict: what rejection selects from.

Tasks are sampled in fixed chunks, each from a seed of its own, so that a resumed run draws the same
answers. Under a launcher each process samples its share of the chunks and waits for the others by
watching the file that all append to. Kernels are not timed: only right or wrong counts here.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import RunFolder
from kernelwright.policy.generate import Completion, batch_seed, sample
from kernelwright.rewards.outage import refuse_outage
from kernelwright.rewards.prompt import messages
from kernelwright.rewards.record import to_plain
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status, Verdict
from kernelwright.rewards.verifier import LocalVerifier, VerifierOptions
from kernelwright.sft.arguments import SFTArguments

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

SAMPLES = "samples.jsonl"


@dataclass(frozen=True, slots=True)
class Sampler:
    """A policy with the settings it is sampled under."""

    own: SFTArguments
    model: "PreTrainedModel"
    tokenizer: "PreTrainedTokenizerBase"
    seed: int

    def draw(self, tasks: Sequence[Task], n: int, *seed: object) -> list[list[Completion]]:
        """*n* answers to each of *tasks*; *seed* decides, with the run's own."""
        own = self.own
        return sample(
            self.model,
            self.tokenizer,
            [messages(task, own.backend, own.prompt_style) for task in tasks],
            n=n,
            temperature=own.temperature,
            top_p=own.top_p,
            max_new_tokens=own.max_new_tokens,
            seed=batch_seed(self.seed, *seed),
            batch_size=own.sample_batch_size,
        )


def verifier_options(own: SFTArguments, folder: Path) -> VerifierOptions:
    """How samples are judged; verdicts are kept in *folder*, a file for each process."""
    from kernelwright.rewards.backend import load_backend

    rank = int(os.environ.get("RANK", "0"))
    try:
        if reason := load_backend(own.backend).missing():
            raise UserError(f"backend {own.backend!r} cannot run here: {reason}")
        return VerifierOptions(
            backend=own.backend,
            time=False,
            workers=own.workers,
            store=folder / (f"verdicts-{rank}.jsonl" if rank else "verdicts.jsonl"),
        )
    except ValueError as error:
        raise UserError(str(error)) from None


def gather(
    sampler: Sampler, tasks: Sequence[Task], options: VerifierOptions, run: RunFolder
) -> list[dict[str, Any]]:
    """All rows of ``samples.jsonl``, sampled and judged where they are not there yet."""
    n = sampler.own.samples_per_prompt
    rank, world = (int(os.environ.get(key, default)) for key, default in _LAUNCHER)
    size = max(1, sampler.own.sample_batch_size // n)
    chunks = [(first, tasks[first : first + size]) for first in range(0, len(tasks), size)]
    done = _done(run)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn()) as progress:
        mine = chunks[rank::world]
        bar = progress.add_task("samples", total=sum(len(chunk) for _, chunk in mine) * n)
        verifier = None
        try:
            for first, chunk in mine:
                wanted = [(task, i) for task in chunk for i in range(n) if (task.id, i) not in done]
                if wanted:
                    verifier = verifier or LocalVerifier(options)
                    answers = dict(
                        zip(
                            (task.id for task in chunk),
                            sampler.draw(chunk, n, first),
                            strict=True,
                        )
                    )
                    picked = [(task, i, answers[task.id][i]) for task, i in wanted]
                    verdicts = verifier.verify_all([(task, each.text) for task, _, each in picked])
                    refuse_outage(verdicts)
                    for (task, i, answer), verdict in zip(picked, verdicts, strict=True):
                        _write(run, task, i, answer, verdict)
                progress.advance(bar, len(chunk) * n)
        finally:
            if verifier:
                verifier.__exit__(None, None, None)
    while world > 1 and len(_done(run)) < len(tasks) * n:
        time.sleep(1.0)
    return sorted(run.read(SAMPLES), key=lambda row: (row["task"], row["sample"]))


_LAUNCHER = (("RANK", "0"), ("WORLD_SIZE", "1"))


def _done(run: RunFolder) -> set[tuple[str, int]]:
    return {(row["task"], row["sample"]) for row in run.read(SAMPLES)}


def _write(run: RunFolder, task: Task, place: int, answer: Completion, verdict: Verdict) -> None:
    row = {
        "step": 0,
        "task": task.id,
        "sample": place,
        "family": task.family,
        "completion": answer.text,
        "tokens": answer.tokens,
        "truncated": answer.truncated,
        "reward": verdict.reward,
        "verdict": to_plain(verdict),
    }
    run.append(SAMPLES, row)
    if verdict.status is Status.INFRA_ERROR:
        run.append("infra.jsonl", row)
