"""One candidate from completion to verdict: the gates in order, cheap to dear.

The judge is trusted and holds no tensor: the oracle compares, workers run, artefacts are built in a
confined process. Every way a candidate can fail is a status here; an `InfraError` is not its fault
and leaves this module as such. Speed is measured by `speed`.
"""

import ast
import functools
import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernelwright.rewards import static_legality
from kernelwright.rewards.artefacts import Artefacts
from kernelwright.rewards.backend import Artefact, BuildError, IllegalBuild, Sources
from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.certificate import Certificate
from kernelwright.rewards.certificates import Certificates
from kernelwright.rewards.draft import Draft
from kernelwright.rewards.options import VerifierOptions
from kernelwright.rewards.oracle import Oracle
from kernelwright.rewards.plumbing import compute_names
from kernelwright.rewards.record import from_plain, to_plain
from kernelwright.rewards.sandbox import Limits
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status
from kernelwright.rewards.workers import WarmParent, Worker, WorkerDied, WorkerTimeout

MAX_EXTENSIONS = 8
_PATHS = re.compile(r"(/[\w.+-]+){2,}/")


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
        self.certificates, self._artefacts, self._folder = certificates, artefacts, folder
        self.limits = Limits(memory_bytes=options.memory_bytes)

    async def check(
        self, draft: Draft, task: Task, candidate: Candidate, certificate: Certificate
    ) -> list[Artefact]:
        """Gates 3 to 5. Raises `Failed` when one fails; the artefacts are what `speed` times."""
        with draft.gate("build"):
            artefacts = await self._build(draft, task, candidate)
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

    async def _build(self, draft: Draft, task: Task, candidate: Candidate) -> list[Artefact]:
        began = time.perf_counter()
        deadline = began + self.options.build_timeout_s
        try:
            sources = await self._record(draft, task, candidate)
            if not sources:
                what = (
                    "load_inline is not called before forward"
                    if "load_inline" in (candidate.source)
                    else "the answer builds no kernel of its own"
                )
                draft.fail("build", Status.CHEATING, "no_kernel", what, final=True)
            built = []
            for each in sources:
                left = max(deadline - time.perf_counter(), 1.0)
                build = functools.partial(self._compile, timeout_s=left)
                built.append(await self._artefacts.get(each, build))
        except BuildError as error:
            draft.fail("build", Status.COMPILE_ERROR, "", str(error), final=True)
        except IllegalBuild as error:
            draft.fail("build", Status.CHEATING, str(error), str(error), final=True)
        except WorkerTimeout:
            draft.fail("build", Status.TIMEOUT, "build", final=True)
        except WorkerDied as error:
            draft.fail("build", Status.COMPILE_ERROR, f"builder_{error}", final=True)
        finally:
            draft.spent("build", time.perf_counter() - began)
        kinds = {each.headers for each in built}
        draft.note(headers="full" if "full" in kinds else "slim")
        draft.passed("build", f"{draft.verdict.headers} headers")
        return built

    async def _record(self, draft: Draft, task: Task, candidate: Candidate) -> list[Sources]:
        with self._files(task, candidate) as files, _memory("sources") as out:
            async with await self.parent.start(self.limits) as worker:
                draft.note(protections=worker.protections)
                order = {"op": "record"}
                reply = await worker.ask(order, self.options.run_timeout_s, [*files, out])
            if "failed" in reply:
                kind, text = str(reply["failed"]), _shown(reply.get("text", ""))
                draft.fail("build", Status.RUNTIME_ERROR, f"init_{kind}"[:60], text, final=True)
            plain = json.loads(os.pread(out, 16 << 20, 0))
        if len(plain) > MAX_EXTENSIONS:
            raise BuildError(f"{len(plain)} load_inline calls; at most {MAX_EXTENSIONS} are built")
        return [from_plain(Sources, each) for each in plain]

    async def _compile(self, sources: Sources, target: Path, timeout_s: float) -> Artefact:
        with _memory("sources") as given:
            os.pwrite(given, json.dumps(to_plain(sources)).encode(), 0)
            target.touch()
            out = os.open(target, os.O_RDWR)
            try:
                async with await self.parent.start(self.limits) as worker:
                    order = {"op": "compile", "arch": None}
                    reply = await worker.ask(order, timeout_s, [given, out])
            finally:
                os.close(out)
        if reply.get("failed") == "illegal":
            raise IllegalBuild(_shown(reply["text"]))
        if "failed" in reply:
            raise BuildError(_shown(reply["text"]))
        return Artefact(target, sources.digest, reply["headers"], float(reply["build_s"]))

    async def ready(
        self, task: Task, candidate: Candidate, artefacts: list[Artefact], worker: Worker
    ) -> dict[str, Any]:
        """Have a fresh worker build ``ModelNew`` around the artefacts; its reply."""
        built = [{**to_plain(each), "path": str(each.path)} for each in artefacts]
        with self._files(task, candidate) as files:
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
        kind, text = str(reply["failed"])[:60], _shown(reply.get("text", ""))
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

    @contextmanager
    def _files(self, task: Task, candidate: Candidate) -> Iterator[list[int]]:
        """Descriptors of the answer's text and of the task's init package."""
        with _memory("answer") as source:
            os.pwrite(source, candidate.source.encode(), 0)
            init = os.open(self.certificates.folder(task) / "init", os.O_RDONLY)
            try:
                yield [source, init]
            finally:
                os.close(init)


@contextmanager
def _memory(name: str) -> Iterator[int]:
    fd = os.memfd_create(name)
    try:
        yield fd
    finally:
        os.close(fd)


def _shown(text: object) -> str:
    """An untrusted message without this machine's folders."""
    return _PATHS.sub("", str(text))[:4000]
