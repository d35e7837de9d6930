"""One candidate from completion to verdict: the gates in order, cheap to dear.

The judge is trusted and holds no tensor: the oracle compares, workers run, artefacts are built in a
confined process. Every way a candidate can fail is a status here; an `InfraError` is not its fault
and leaves this module as such. Speed is measured by `speed`.
"""

import ast
import os
import secrets
import time
from pathlib import Path
from typing import Any

from kernelwright.rewards import static_legality
from kernelwright.rewards.artefacts import Artefacts
from kernelwright.rewards.backend import Artefact
from kernelwright.rewards.builder import Builder
from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.certificate import Certificate
from kernelwright.rewards.certificates import Certificates
from kernelwright.rewards.draft import Draft
from kernelwright.rewards.handover import answer_files, shown
from kernelwright.rewards.options import VerifierOptions
from kernelwright.rewards.oracle import Oracle
from kernelwright.rewards.plumbing import compute_names
from kernelwright.rewards.record import to_plain
from kernelwright.rewards.sandbox import Limits
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status
from kernelwright.rewards.workers import WarmParent, Worker, WorkerDied, WorkerTimeout


class Judge:
    """Judges candidates with the processes it is given."""

    def __init__(
        self,
        options: VerifierOptions,
        parent: WarmParent,
        oracle: Oracle,
        certificates: Certificates,
        artefacts: Artefacts,
        folder: Path,
    ) -> None:
        self.options, self.parent, self.oracle = options, parent, oracle
        self.certificates, self._folder = certificates, folder
        self.limits = Limits(memory_bytes=options.memory_bytes)
        self._builder = Builder(options, parent, artefacts, self.limits)

    async def check(
        self, draft: Draft, task: Task, candidate: Candidate, certificate: Certificate
    ) -> list[Artefact]:
        """Gates 3 to 5. Raises `Failed` when one fails; the artefacts are what `speed` times."""
        with draft.gate("build"):
            folder = self.certificates.folder(task)
            artefacts = await self._builder.build(draft, candidate, folder)
        began = time.perf_counter()
        try:
            await self._trials(draft, task, candidate, certificate, artefacts)
        finally:
            draft.spent("run", time.perf_counter() - began)
        return artefacts

    def static(self, draft: Draft, candidate: Candidate) -> None:
        """Gate 2, on the text alone. Raises `Failed` when it fails."""
        with draft.gate("legality"):
            try:
                ast.parse(candidate.source)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                line = f" at line {error.lineno}" if isinstance(error, SyntaxError) else ""
                text = f"{type(error).__name__}: {error}{line}"
                draft.fail("legality", Status.COMPILE_ERROR, "python_syntax", text, final=True)
            if found := static_legality.violations(candidate.source):
                first = found[0]
                told = "; ".join(f"line {each.line}: {each.rule} {each.name}" for each in found[:8])
                draft.fail("legality", Status.CHEATING, f"{first.rule}:{first.name}", told)

    async def ready(
        self, task: Task, candidate: Candidate, artefacts: list[Artefact], worker: Worker
    ) -> dict[str, Any]:
        """Have a fresh worker build ``ModelNew`` around the artefacts; its reply."""
        built = [{**to_plain(each), "path": str(each.path)} for each in artefacts]
        with answer_files(candidate, self.certificates.folder(task)) as files:
            order = {"op": "init", "artefacts": built}
            return await worker.ask(order, self.options.run_timeout_s, files)

    async def _trials(
        self,
        draft: Draft,
        task: Task,
        candidate: Candidate,
        certificate: Certificate,
        artefacts: list[Artefact],
    ) -> None:
        with draft.gate("correctness"):
            pass
        try:
            async with await self.parent.start(self.limits) as worker:
                try:
                    await self._in_worker(draft, task, candidate, certificate, artefacts, worker)
                finally:
                    ended = await worker.end()
                    draft.note(peak_memory_bytes=ended.peak_bytes)
        except WorkerTimeout:
            draft.fail("correctness", Status.TIMEOUT, "run", final=True)
        except WorkerDied as error:
            draft.fail("correctness", Status.RUNTIME_ERROR, str(error), final=True)

    async def _in_worker(
        self,
        draft: Draft,
        task: Task,
        candidate: Candidate,
        certificate: Certificate,
        artefacts: list[Artefact],
        worker: Worker,
    ) -> None:
        reply = await self.ready(task, candidate, artefacts, worker)
        if "failed" in reply:
            self._worker_failed(draft, reply)
        deadline = time.perf_counter() + self.options.run_timeout_s
        with draft.gate("correctness"):
            seen, wrong = await self._each_trial(draft, task, certificate, worker, deadline)
            total = len(certificate.trials)
            q = (total - len(wrong)) / total
            draft.note(q=q, legal=not draft.failed)
            draft.passed("correctness", f"{total - len(wrong)} of {total} trials")
        with draft.gate("trace"):
            if forbidden := sorted(compute_names(seen)):
                draft.note(legal=False)
                detail = f"dispatch:{forbidden[0].split('.')[0]}"
                text = f"forward dispatched {', '.join(forbidden[:8])}"
                if draft.verdict.status is Status.CORRECTNESS_ERROR:  # illegality overrides q
                    draft.note(status=Status.CHEATING, detail=detail, message=text)
                draft.fail("trace", Status.CHEATING, detail, text)
            if not wrong and await self._idle_kernel(task, worker, deadline):
                draft.note(legal=False)
                text = "overwriting what the kernels returned does not change the output"
                draft.fail("trace", Status.CHEATING, "knock_out", text)
        if wrong:
            index, why = wrong[0]
            detail = why.split(":")[0]
            text = f"trial {index + 1} ({certificate.trials[index]}): {why}"
            draft.fail("correctness", Status.CORRECTNESS_ERROR, detail, text)

    async def _each_trial(
        self,
        draft: Draft,
        task: Task,
        certificate: Certificate,
        worker: Worker,
        deadline: float,
    ) -> tuple[set[str], list[tuple[int, str]]]:
        """Operators seen, and (trial, why) of the trials that are wrong."""
        seen: set[str] = set()
        wrong: list[tuple[int, str]] = []
        plain = sum(variant == "plain" for variant in certificate.trials)
        for index in range(len(certificate.trials)):
            if index == plain and len(wrong) == plain:
                wrong += [(rest, "skipped") for rest in range(plain, len(certificate.trials))]
                break
            reply, verdict = await self.one_trial(task, index, worker, deadline, knock=False)
            if "failed" in reply:
                self._worker_failed(draft, reply)
            seen.update(str(name) for name in reply.get("operators", []))
            if reply.get("mutated"):
                wrong.append((index, "input_mutated: forward changed its input"))
            elif not verdict["passed"]:
                wrong.append((index, str(verdict["why"])))
        return seen, wrong

    async def one_trial(
        self, task: Task, index: int, worker: Worker, deadline: float, *, knock: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The worker's reply for one trial, and the oracle's word on its output."""
        path = self.output_path()
        inputs = os.open(self.certificates.folder(task) / str(index), os.O_RDONLY)
        out = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            left = max(deadline - time.perf_counter(), 0.1)
            reply = await worker.ask({"op": "trial", "knock": knock}, left, [inputs, out])
            if "failed" in reply:
                return reply, {"passed": False, "why": "failed"}
            return reply, await self.compare(task, index, path, output_only=False)
        finally:
            os.close(inputs)
            os.close(out)
            path.unlink()

    def output_path(self) -> Path:
        """A fresh name for one output, in the judge's own folder."""
        return self._folder / f"out-{secrets.token_hex(8)}"

    async def compare(
        self, task: Task, index: int, path: Path, *, output_only: bool
    ) -> dict[str, Any]:
        """The oracle's word on an output file; *output_only*: without updated buffers."""
        order: dict[str, Any] = {
            "op": "compare",
            "digest": task.digest,
            "trial": index,
            "path": str(path),
        }
        order["output_only"] = output_only
        return await self.oracle.ask(order, 120.0)

    async def _idle_kernel(self, task: Task, worker: Worker, deadline: float) -> bool:
        """Whether the output stays right when the kernels' results are overwritten."""
        reply, verdict = await self.one_trial(task, 0, worker, deadline, knock=True)
        return "failed" not in reply and bool(verdict["passed"])

    def _worker_failed(self, draft: Draft, reply: dict[str, Any]) -> None:
        kind, text = str(reply["failed"])[:60], shown(reply.get("text", ""))
        status, detail = Status.RUNTIME_ERROR, kind
        if kind == "source_changed":
            status = Status.CHEATING
        elif kind == "OutputError":
            status, detail = Status.CORRECTNESS_ERROR, "output_type"
        elif kind == "RuntimeError" and "loading state_dict" in text:
            status, detail = Status.CORRECTNESS_ERROR, "state_dict"
        elif kind in ("MemoryError", "bad_alloc") or "can't allocate memory" in text:
            detail = "out_of_memory"
        draft.fail("correctness", status, detail, text, final=True)
