"""Gate 3: from a candidate's text to built objects, in two confined processes.

The first runs the candidate's Python as far as ``ModelNew(*init)`` and records what ``load_inline``
was given; the second compiles those sources, having run no candidate code. Objects are kept by
content hash (`artefacts`). The scan of a built object is the backend's.
"""

import functools
import json
import os
import time
from pathlib import Path

from kernelwright.rewards.artefacts import Artefacts
from kernelwright.rewards.backend import Artefact, BuildError, IllegalBuild, Sources
from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.draft import Draft
from kernelwright.rewards.handover import answer_files, memory, shown
from kernelwright.rewards.options import VerifierOptions
from kernelwright.rewards.record import from_plain, to_plain
from kernelwright.rewards.sandbox import Limits
from kernelwright.rewards.verdict import Status
from kernelwright.rewards.workers import WarmParent, WorkerDied, WorkerTimeout

MAX_EXTENSIONS = 8


class Builder:
    """Builds candidates with the processes and the store it is given."""

    def __init__(
        self, options: VerifierOptions, parent: WarmParent, artefacts: Artefacts, limits: Limits
    ) -> None:
        self._options, self._parent = options, parent
        self._artefacts, self._limits = artefacts, limits

    async def build(self, draft: Draft, candidate: Candidate, task_folder: Path) -> list[Artefact]:
        """The artefacts of *candidate*. Raises `Failed` when it does not build or is illegal."""
        began = time.perf_counter()
        deadline = began + self._options.build_timeout_s
        try:
            sources = await self._record(draft, candidate, task_folder)
            if not sources:
                what = (
                    "load_inline is not called before forward"
                    if "load_inline" in candidate.source
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

    async def _record(self, draft: Draft, candidate: Candidate, task_folder: Path) -> list[Sources]:
        with answer_files(candidate, task_folder) as files, memory("sources") as out:
            async with await self._parent.start(self._limits) as worker:
                draft.note(protections=worker.protections)
                order = {"op": "record"}
                reply = await worker.ask(order, self._options.run_timeout_s, [*files, out])
            if "failed" in reply:
                kind, text = str(reply["failed"]), shown(reply.get("text", ""))
                draft.fail("build", Status.RUNTIME_ERROR, f"init_{kind}"[:60], text, final=True)
            plain = json.loads(os.pread(out, 16 << 20, 0))
        if len(plain) > MAX_EXTENSIONS:
            raise BuildError(f"{len(plain)} load_inline calls; at most {MAX_EXTENSIONS} are built")
        return [from_plain(Sources, each) for each in plain]

    async def _compile(self, sources: Sources, target: Path, timeout_s: float) -> Artefact:
        with memory("sources") as given:
            os.pwrite(given, json.dumps(to_plain(sources)).encode(), 0)
            target.touch()
            out = os.open(target, os.O_RDWR)
            try:
                async with await self._parent.start(self._limits) as worker:
                    order = {"op": "compile", "arch": None}
                    reply = await worker.ask(order, timeout_s, [given, out])
            finally:
                os.close(out)
        if reply.get("failed") == "illegal":
            raise IllegalBuild(shown(reply["text"]))
        if "failed" in reply:
            raise BuildError(shown(reply["text"]))
        return Artefact(target, sources.digest, reply["headers"], float(reply["build_s"]))
