"""The verifier as a TRL reward function, with every sample on record.

The scalar is the verdict's; nothing is computed here. A sample without a score is None. The
random-reward control draws its rewards here instead, from the same range, so that all else is
equal. Timing needs the machine quiet: the trainer waits while the verifier works, and how long is
logged.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any, Protocol

from kernelwright.configs.run_folder import RunFolder
from kernelwright.rewards.outage import refuse_outage
from kernelwright.rewards.record import to_plain
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status, Verdict


class VerifyAll(Protocol):
    """What is needed of a verifier."""

    def verify_all(self, pairs: Sequence[tuple[Task, str]], /) -> list[Verdict]: ...


class KernelReward:
    """Judges each completion; rows go to ``samples.jsonl`` once their advantages are known."""

    __name__ = "kernel"

    def __init__(
        self,
        verifier: VerifyAll,
        tasks: Sequence[Task],
        decode: Callable[[list[int]], str],
        stops: frozenset[int],
        run: RunFolder,
        draw: Callable[[int], random.Random] | None = None,
        ceiling: float = 1.0,
    ) -> None:
        """*stops*: tokens that end a completion. *draw*: for the random-reward control, a source
        of rewards between -1 and *ceiling* for each step.
        """
        self._verifier, self._tasks, self._run = verifier, tasks, run
        self._decode, self._stops = decode, stops
        self._draw, self._ceiling = draw, ceiling
        self._rows: list[dict[str, Any]] = []
        self._classes: set[str] | None = None
        self.waited_s = 0.0
        """Seconds the trainer has waited for verdicts so far."""

    def __call__(
        self,
        completion_ids: list[list[int]],
        task_index: list[int],
        trainer_state: Any,
        log_metric: Callable[[str, float], None],
        **_: Any,
    ) -> list[float | None]:
        tasks = [self._tasks[index] for index in task_index]
        # Decoded here: TRL may have taken reasoning or tool calls out of what it decodes.
        texts = [self._decode(ids) for ids in completion_ids]
        began = time.perf_counter()
        verdicts = self._verifier.verify_all(list(zip(tasks, texts, strict=True)))
        refuse_outage(verdicts)
        waited_s = time.perf_counter() - began
        self.waited_s += waited_s
        log_metric("verify_s", waited_s)
        step = trainer_state.global_step + 1
        rewards = self._rewards(step, verdicts)
        self._rows = [
            {
                "step": step,
                "task": task.id,
                "family": task.family,
                "completion": text,
                "tokens": len(ids),
                "truncated": ids[-1] not in self._stops,
                "reward": reward,
                "verdict": to_plain(verdict),
            }
            for task, text, ids, reward, verdict in zip(
                tasks, texts, completion_ids, rewards, verdicts, strict=True
            )
        ]
        self._log(verdicts, log_metric)
        return rewards

    def record(self, advantages: list[float | None]) -> None:
        """Write the samples of the last call, with their advantages."""
        for row, advantage in zip(self._rows, advantages, strict=True):
            row["advantage"] = advantage
            self._run.append("samples.jsonl", row)
            if row["verdict"]["status"] == Status.INFRA_ERROR:
                self._run.append("infra.jsonl", row)
        self._rows = []

    def _rewards(self, step: int, verdicts: list[Verdict]) -> list[float | None]:
        if self._draw is None:
            return [verdict.reward for verdict in verdicts]
        source = self._draw(step)
        drawn = [source.uniform(-1.0, self._ceiling) for _ in verdicts]
        return [
            None if verdict.reward is None else reward
            for verdict, reward in zip(verdicts, drawn, strict=True)
        ]

    def _log(self, verdicts: list[Verdict], log_metric: Callable[[str, float], None]) -> None:
        count = len(verdicts)
        statuses = Counter(verdict.status for verdict in verdicts)
        for status in Status:
            log_metric(f"status/{status}", statuses[status] / count)
        cheats = Counter(
            verdict.detail.split(":")[0] or "other"
            for verdict in verdicts
            if verdict.status is Status.CHEATING
        )
        if self._classes is None:  # a resumed run has seen some
            earlier = (key for row in self._run.read("metrics.jsonl") for key in row)
            self._classes = {
                key.removeprefix("cheating/") for key in earlier if key.startswith("cheating/")
            }
        self._classes |= set(cheats)
        for name in sorted(self._classes):  # also those absent now, or their mean would be too high
            log_metric(f"cheating/{name}", cheats[name] / count)
        scored = [verdict for verdict in verdicts if verdict.reward is not None]
        if scored:
            log_metric("q", mean(verdict.q for verdict in scored))
        for name in sorted({key for verdict in scored for key in verdict.speedup}):
            found = [verdict.speedup[name].median for verdict in scored if name in verdict.speedup]
            log_metric(f"speedup/{name}", mean(found))
