"""Built objects by content hash: each source is compiled once per machine, torch and compiler.

Only the judge writes here, with bytes that a confined compiler process handed over; names are
hashes of sources, files appear by rename, so concurrent users and a killed process leave no torn
file. A source that does not build is not remembered.
"""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from kernelwright.rewards import machine
from kernelwright.rewards.backend import Artefact, Sources

Build = Callable[[Sources, Path], Awaitable[Artefact]]
"""Compile sources into the given path, or raise."""


class Artefacts:
    """The store of one backend."""

    def __init__(self, root: Path, backend: str) -> None:
        self._folder = root / "artefacts" / f"{backend}-{_key()}"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._pending: dict[str, asyncio.Future[Artefact]] = {}

    def stored(self, digest: str) -> Artefact | None:
        """The artefact of *digest* where it is there."""
        for headers in ("slim", "full"):
            path = self._folder / f"{digest}.{headers}.so"
            if path.exists():
                return Artefact(path, digest, headers, 0.0, cached=True)
        return None

    async def get(self, sources: Sources, build: Build) -> Artefact:
        """The artefact of *sources*, built by *build* where it is new; its failure is repeated."""
        digest = sources.digest
        if found := self.stored(digest):
            return found
        if digest not in self._pending:
            self._pending[digest] = asyncio.get_running_loop().create_future()
            part = self._folder / f".{digest}.{os.getpid()}"
            try:
                made = await build(sources, part)
                final = self._folder / f"{digest}.{made.headers}.so"
                part.chmod(0o755)
                part.rename(final)
                made = Artefact(final, digest, made.headers, made.build_s)
                self._pending[digest].set_result(made)
            except BaseException as error:
                part.unlink(missing_ok=True)
                pending = self._pending.pop(digest)
                if isinstance(error, asyncio.CancelledError):
                    pending.cancel()
                    raise
                pending.set_exception(error)
                pending.exception()  # retrieved here, so that no waiter is a must
                raise
            return made
        return await asyncio.shield(self._pending[digest])


def _key() -> str:
    """Hash of what decides how a source builds: our backends, compiler, torch, processor."""
    digest = hashlib.sha256(repr(sorted(machine.versions().items())).encode())
    digest.update(machine.cpu_name().encode())
    for path in sorted((Path(__file__).parent / "backends").rglob("*")):
        if path.suffix in (".py", ".h", ".cpp"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
