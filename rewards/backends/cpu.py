"""The ``cpu`` backend: C++ given to ``load_inline``, built in well under a second.

A source is compiled against our slim ``torch/extension.h``, which declares tensors but no operator
that computes. Torch's own headers are used only where a source needs more of torch than that.
Sandboxing is the caller's; so is the time budget, apart from the compiler's own.
"""

import os
import platform
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from kernelwright.rewards.backend import Artefact, BuildError, IllegalBuild, Sources
from kernelwright.rewards.backends import full_build, slim_kit, torch_names, translation_unit
from kernelwright.rewards.backends.compiler import (
    BASE,
    admitted,
    condensed,
    find_compiler,
    run,
    split_macros,
)
from kernelwright.rewards.backends.link import LINK
from kernelwright.rewards.backends.loader import load_full, load_slim
from kernelwright.rewards.backends.object_scan import ALLOWED_LIBRARIES, ALLOWED_SYMBOLS, scan
from kernelwright.rewards.backends.slim_kit import SlimKit

COMPILE_TIMEOUT_S = 60.0
_OUT = ("-o", "object.so")


class CpuBackend:
    """Kernels in C++ with OpenMP and the machine's vector instructions."""

    name = "cpu"
    device = "cpu"
    allowed_symbols: tuple[str, ...] = ALLOWED_SYMBOLS
    allowed_libraries: tuple[str, ...] = ALLOWED_LIBRARIES

    def __init__(self, cache: Path | None = None, timeout_s: float = COMPILE_TIMEOUT_S) -> None:
        self._cache = cache
        self._timeout_s = timeout_s
        self._kits: dict[str, SlimKit] = {}

    def missing(self) -> str | None:
        """Why it cannot run here, with the cure, or None."""
        if platform.system() != "Linux" or platform.machine() != "x86_64":
            return "the cpu backend needs Linux on x86-64"
        if find_compiler() is None:
            return "no C++ compiler: install g++ (apt install g++)"
        return None

    def prepare(self, arch: str | None = None) -> SlimKit:
        """Build what all builds share, once per machine. Call it before entering a sandbox."""
        key = arch or "native"
        if key not in self._kits:
            self._kits[key] = slim_kit.prepare(key, self._cache)
        return self._kits[key]

    def build(self, sources: Sources, workdir: Path, arch: str | None = None) -> Artefact:
        """Compile *sources* to ``<workdir>/<digest>.so``; what is there already is reused."""
        started = time.perf_counter()
        if sources.cuda:
            raise BuildError("cuda_sources: this task's kernels run on the CPU; use cpp_sources")
        translation_unit.check_includes(sources)
        stem = f"{sources.digest}-{arch}" if arch else sources.digest
        paths = {"slim": workdir / f"{stem}.so", "full": workdir / f"{stem}.full.so"}
        for headers, path in paths.items():
            if path.is_file():
                return Artefact(path, sources.digest, headers, 0.0, cached=True)
        workdir.mkdir(parents=True, exist_ok=True)
        private = Path(tempfile.mkdtemp(prefix=".build-", dir=workdir))
        try:
            headers = self._compile(sources, private, arch or "native")
            os.replace(private / "object.so", paths[headers])
        finally:
            shutil.rmtree(private, ignore_errors=True)
        return Artefact(paths[headers], sources.digest, headers, time.perf_counter() - started)

    def _compile(self, sources: Sources, private: Path, arch: str) -> str:
        flags, macros = split_macros(admitted(sources.flags)[0])
        march = () if any(flag.startswith("-march=") for flag in flags) else (f"-march={arch}",)
        command = [str(find_compiler()), *BASE, *march, *flags, *translation_unit.DIAGNOSTICS]
        if translation_unit.needs_full_headers(sources):
            full_build.compile_object(command, sources, macros, private, self._timeout_s)
            return "full"
        kit = self.prepare(arch)
        (private / "main.cpp").write_text(translation_unit.slim(sources, macros))
        done = run(
            [*command, *kit.includes, "main.cpp", *LINK, *kit.linker, str(kit.library), *_OUT],
            private,
            self._timeout_s,
        )
        if not done.ok:
            if name := torch_names.compute_missed(done.output, "\n".join(sources.cpp)):
                raise IllegalBuild(f"aten:{name}")
            if symbol := translation_unit.forbidden_reference(done.output):
                raise IllegalBuild(f"symbol:{symbol}")
            if not torch_names.beyond_slim(done.output):
                raise BuildError(condensed(done.output))
            full_build.compile_object(command, sources, macros, private, self._timeout_s)
            return "full"
        scan(private / "object.so", self.allowed_symbols, self.allowed_libraries)
        return "slim"

    def load(self, artefact: Artefact) -> Any:
        """The module with the bound functions as attributes. It stays loaded."""
        if artefact.headers == "full":
            return load_full(artefact)
        return load_slim(artefact, self.prepare().binding)

    def dropped_flags(self, sources: Sources) -> tuple[str, ...]:
        """The flags of *sources* that its build leaves out."""
        return admitted(sources.flags)[1]
