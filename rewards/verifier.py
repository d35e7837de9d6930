"""Tasks and candidates in, verdicts out: the one verifier that reward and evaluation share.

`LocalVerifier` runs on this machine. Candidates are built and checked `workers` at a time; timing
has the machine to itself and waits until no check is running or queued, so its numbers are not each
other's noise. Identical (task, source) pairs are verified once. The caller must keep the machine
quiet too: a trainer that computes meanwhile shows in the intervals.
"""

import asyncio
import functools
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from kernelwright.rewards import machine, speed
from kernelwright.rewards.artefacts import Artefacts
from kernelwright.rewards.backend import Artefact, load_backend
from kernelwright.rewards.candidate import Candidate, ExtractError, extract
from kernelwright.rewards.certificate import Certificate
from kernelwright.rewards.certificates import Certificates
from kernelwright.rewards.draft import Draft, Failed
from kernelwright.rewards.judge import Judge
from kernelwright.rewards.options import VerifierOptions
from kernelwright.rewards.oracle import Oracle
from kernelwright.rewards.quiet import Quiet
from kernelwright.rewards.reward import score
from kernelwright.rewards.store import VerdictStore
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status, Verdict
from kernelwright.rewards.workers import InfraError, WarmParent

Answer = Candidate | str
"""A candidate, or the raw text of a completion."""
OnVerdict = Callable[[int, Verdict], None]

__all__ = ["Answer", "LocalVerifier", "Verifier", "VerifierOptions"]


class Verifier(Protocol):
    """What a stage needs; a cluster's verifier would implement the same."""

    async def verify(self, task: Task, answer: Answer) -> Verdict:
        """The verdict on *answer*; a bad kernel is a value, never an exception."""


class LocalVerifier:
    """A verifier on this machine; a context manager. Starts its processes on first use."""

    def __init__(self, options: VerifierOptions) -> None:
        self.options = options
        self.backend = load_backend(options.backend)
        if reason := self.backend.missing():
            raise ValueError(f"backend {options.backend!r} cannot run here: {reason}")
        self._folder = Path(tempfile.mkdtemp(prefix="kernelwright-"))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._store = VerdictStore(options.store, f"{options.asked}/{machine.cpu_name()}")
        self._pending: dict[str, asyncio.Future[Verdict]] = {}
        self._slots = asyncio.Semaphore(options.workers)
        self._quiet = Quiet()
        self._start_processes()

    def _start_processes(self) -> None:
        threads = machine.cores()
        self._parent = WarmParent(self.options.backend, threads)
        names = dict.fromkeys(("eager", *self.options.baselines))
        self._oracles = {name: Oracle(self._folder, threads, self.backend.device) for name in names}
        self._oracles["eager"].start()
        master = secrets.randbits(62) if self.options.seed is None else self.options.seed
        self._certificates = Certificates(
            self._oracles, self._folder, master, self.options.certificate_bytes
        )
        artefacts = Artefacts(self.options.cache, self.options.backend)
        self._judge = Judge(
            self.options,
            self._parent,
            self._oracles["eager"],
            self._certificates,
            artefacts,
            self._folder,
        )

    def __enter__(self) -> "LocalVerifier":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process and remove what they left."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._parent.close()
        for oracle in self._oracles.values():
            oracle.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def verify(self, task: Task, answer: Answer) -> Verdict:
        """The verdict on *answer*, from any event loop."""
        return await asyncio.wrap_future(self.submit(task, answer))

    def submit(self, task: Task, answer: Answer) -> "Future[Verdict]":
        """Start verifying and return at once."""
        return asyncio.run_coroutine_threadsafe(self._once(task, answer), self._loop)

    def verify_all(
        self, pairs: Sequence[tuple[Task, Answer]], on_verdict: OnVerdict | None = None
    ) -> list[Verdict]:
        """Verdicts in the order of *pairs*; *on_verdict* is called as each arrives."""
        futures = [self.submit(task, answer) for task, answer in pairs]
        if on_verdict:
            for index, future in enumerate(futures):
                future.add_done_callback(functools.partial(_told, on_verdict, index))
        return [future.result() for future in futures]

    async def _once(self, task: Task, answer: Answer) -> Verdict:
        """Verify unless the same pair is known or on its way."""
        base = Verdict(
            Status.OK,
            task=task.id,
            task_digest=task.digest,
            backend=self.options.backend,
            device=machine.cpu_name(),
            versions=machine.versions(),
        )
        draft = Draft(base, self.options.all_gates)
        try:
            with draft.gate("extract"):
                candidate = self._extracted(draft, answer)
        except Failed:
            return self._scored(draft)
        draft.note(source_digest=candidate.digest)
        key = self._store.key(task.digest, candidate.digest)
        if known := self._store.get(key):
            return self._rewarded(known)
        if key in self._pending:
            return await asyncio.shield(self._pending[key])
        self._pending[key] = asyncio.get_running_loop().create_future()
        try:
            verdict = await self._retried(task, candidate, draft)
            self._store.put(key, verdict)
            self._pending[key].set_result(verdict)
            return verdict
        except BaseException as error:
            self._pending[key].set_exception(error)
            self._pending[key].exception()
            raise
        finally:
            del self._pending[key]

    def _extracted(self, draft: Draft, answer: Answer) -> Candidate:
        if isinstance(answer, Candidate):
            return answer
        try:
            return Candidate(answer, extract(answer))
        except ExtractError as error:
            draft.fail("extract", Status.EXTRACT_ERROR, str(error), final=True)
            raise AssertionError("unreachable") from error

    async def _retried(self, task: Task, candidate: Candidate, draft: Draft) -> Verdict:
        base = draft.verdict
        for attempt in range(self.options.infra_retries + 1):
            try:
                await self._gates(task, candidate, draft)
            except Failed:
                return self._scored(draft)
            except InfraError as error:
                if attempt == self.options.infra_retries:
                    failed = {"status": Status.INFRA_ERROR, "detail": str(error)[:200]}
                    draft.note(**failed, legal=False, q=0.0, speedup={})
                    return self._scored(draft)
                draft = Draft(base, self.options.all_gates)
                with draft.gate("extract"):
                    pass
            else:
                break
        return self._scored(draft)

    async def _gates(self, task: Task, candidate: Candidate, draft: Draft) -> None:
        held = False
        artefacts: list[Artefact] = []
        try:
            async with self._quiet.busy(), self._slots:
                self._judge.static(draft, candidate)  # needs no certificate: milliseconds
                certificate = await self._certificates.acquire(task)
                held = True
                draft.note(seeds=(certificate.seed,))
                if certificate.invalid:
                    detail, _, why = certificate.invalid.partition(": ")
                    draft.note(status=Status.INVALID_PROBLEM, detail=detail, message=why)
                    raise Failed
                artefacts = await self._judge.check(draft, task, candidate, certificate)
                if self.options.time and not draft.failed:
                    missing = await speed.prepare(task, self._oracles_in_use())
            if self.options.time and not draft.failed:
                await self._timed(task, candidate, draft, certificate, artefacts, missing)
        finally:
            if held:
                self._certificates.release(task)

    def _oracles_in_use(self) -> dict[str, Oracle]:
        return {name: self._oracles[name] for name in self.options.baselines}

    async def _timed(
        self,
        task: Task,
        candidate: Candidate,
        draft: Draft,
        certificate: Certificate,
        artefacts: list[Artefact],
        missing: dict[str, str],
    ) -> None:
        oracles = {k: v for k, v in self._oracles_in_use().items() if k not in missing}
        if not oracles:
            raise InfraError(f"no baseline runs: {'; '.join(missing.values())}")
        async with self._quiet.alone():
            await speed.gate(draft, self._judge, task, candidate, certificate, artefacts, oracles)
        if missing:
            draft.note(message="; ".join(f"not timed: {why}" for why in missing.values()))

    def _scored(self, draft: Draft) -> Verdict:
        return self._rewarded(draft.finish())

    def _rewarded(self, verdict: Verdict) -> Verdict:
        reward = score(verdict, self.options.reward_lambda, self.options.reward_nu_max)
        return replace(verdict, reward=reward)


def _told(on_verdict: OnVerdict, index: int, done: "Future[Verdict]") -> None:
    on_verdict(index, done.result())
