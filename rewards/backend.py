"""The contract of a reward backend: kernels in one language for one kind of device.

A backend only builds and loads. Checking, timing, sandboxing and the reward are written once, for
every backend. Ours and yours are found the same way, through the entry-point group
``kernelwright.backends``.
"""

import hashlib
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Protocol

GROUP = "kernelwright.backends"


class BuildError(Exception):
    """The candidate does not build; the text is the compiler's message, condensed."""


class IllegalBuild(Exception):
    """The object leans on something that would do the work for it; the text names it."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What one ``load_inline`` call was given, normalised."""

    name: str
    cpp: tuple[str, ...]
    cuda: tuple[str, ...] = ()
    functions: tuple[tuple[str, str], ...] | None = None
    """(name, docstring) pairs to bind; None where the sources hold their own PYBIND11_MODULE."""
    flags: tuple[str, ...] = ()
    """``extra_cflags`` of the call that the backend admits; others are dropped by it and named."""

    @property
    def digest(self) -> str:
        """Content hash; the extension's name is not part of it."""
        return hashlib.sha256(
            repr((self.cpp, self.cuda, self.functions, self.flags)).encode()
        ).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Artefact:
    """A built shared object."""

    path: Path
    digest: str
    """`Sources.digest` of what it was built from."""
    headers: str
    """``slim`` or ``full``."""
    build_s: float
    cached: bool = False


class Backend(Protocol):
    """Builds kernels written in one language for one kind of device."""

    name: str
    device: str
    """The torch device type it runs on."""

    def missing(self) -> str | None:
        """Why it cannot run on this machine, with the cure, or None."""

    def prepare(self, arch: str | None = None) -> Any:
        """Make what all builds share, once per machine; trusted code calls it, unconfined."""

    def build(self, sources: Sources, workdir: Path, arch: str | None = None) -> Artefact:
        """Compile *sources* under *workdir*; `BuildError` or `IllegalBuild` is the candidate's."""

    def load(self, artefact: Artefact) -> Any:
        """The module object that ``load_inline`` would have returned."""


def installed() -> dict[str, EntryPoint]:
    """Entry points of every installed backend by name; nothing is imported."""
    return {point.name: point for point in entry_points(group=GROUP)}


def load_backend(name: str) -> Backend:
    """The backend registered as *name*; an import error in it shows.

    Raises ``ValueError`` naming the installed ones.
    """
    found = installed()
    if name not in found:
        raise ValueError(f"no backend {name!r}; installed: {', '.join(sorted(found)) or 'none'}")
    backend: Backend = found[name].load()()
    return backend
