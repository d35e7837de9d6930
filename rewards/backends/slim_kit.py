"""What every slim build shares, compiled once per machine: precompiled header, library, binding.

The kit lives in a cache folder named after everything it depends on, and is put there in one
rename, so that processes may race. It is read-only afterwards: candidates' builds only read it.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from kernelwright.configs.errors import UserError
from kernelwright.rewards.backends.compiler import BASE, STANDARD, admitted, find_compiler

HEADERS = Path(__file__).parent / "slim"
PREFIX_HEADER = "kernelwright_prefix.h"
CACHE_VARIABLE = "KERNELWRIGHT_CACHE"
_VARIANTS = ((), admitted(("-ffast-math",))[0])
"""Extra flags that get a precompiled header of their own; GCC wants them to match."""


@dataclass(frozen=True, slots=True)
class SlimKit:
    """Where the shared parts are."""

    root: Path

    @property
    def library(self) -> Path:
        """The static library behind the slim headers."""
        return self.root / "libslim.a"

    @property
    def binding(self) -> Path:
        """The CPython extension that loads candidates' objects."""
        return self.root / "kernelwright_binding.so"

    @property
    def includes(self) -> tuple[str, ...]:
        """Include flags: the precompiled header is found before the plain one."""
        return (f"-I{self.root / 'pch'}", f"-I{HEADERS}")


def cache_root() -> Path:
    """``$KERNELWRIGHT_CACHE``, else ``~/.cache/kernelwright``."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else Path.home() / ".cache" / "kernelwright"


@lru_cache
def _key(compiler: str, arch: str) -> str:
    banner = subprocess.run([compiler, "-v"], capture_output=True, text=True, check=True).stderr
    flags = ""
    if arch == "native":
        cpu = Path("/proc/cpuinfo").read_text().splitlines()
        flags = "".join(line for line in cpu[:40] if line.startswith(("flags", "model")))
    parts = [banner, arch, flags, " ".join(BASE), platform.python_version(), version("torch")]
    for path in sorted(HEADERS.rglob("*")):
        if path.is_file():
            parts += [str(path.relative_to(HEADERS)), path.read_text()]
    parts += [Path(__file__).read_text(), str(HEADERS), sysconfig.get_paths()["include"]]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def prepare(arch: str = "native", cache: Path | None = None) -> SlimKit:
    """The kit for *arch*, built first if it is not there: some ten seconds, once."""
    compiler = find_compiler()
    if compiler is None:
        raise UserError("no C++ compiler: install g++ (apt install g++)")
    parent = cache or cache_root()
    kit = SlimKit(parent / f"slim-{_key(compiler, arch)}")
    if kit.root.is_dir():
        return kit
    parent.mkdir(parents=True, exist_ok=True)
    with (parent / "slim.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # others wait instead of compiling the same
        if not kit.root.is_dir():
            folder = Path(tempfile.mkdtemp(prefix=".slim-", dir=parent))
            try:
                _build(compiler, arch, folder)
                folder.chmod(0o755)
                folder.rename(kit.root)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return kit


def _build(compiler: str, arch: str, folder: Path) -> None:
    def compile_(*arguments: str) -> None:
        done = subprocess.run([compiler, *arguments], capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise RuntimeError(f"the slim kit does not compile:\n{done.stderr[:4000]}")

    march = f"-march={arch}"
    # A name of its own: from a precompiled header GCC does not fall back to the plain one.
    headers = folder / "pch" / f"{PREFIX_HEADER}.gch"
    headers.mkdir(parents=True)
    source = str(headers.with_suffix(""))
    Path(source).write_text("#include <torch/extension.h>\n")
    for index, flags in enumerate(_VARIANTS):
        out = str(headers / f"{index}.gch")
        compile_(*BASE, march, *flags, f"-I{HEADERS}", "-x", "c++-header", source, "-o", out)
    prefix = (f"-I{headers.parent}", f"-I{HEADERS}", "-include", PREFIX_HEADER)
    objects = []
    for path in sorted((HEADERS / "library").glob("*.cpp")):
        objects.append(f"{path.stem}.o")
        compile_(*BASE, march, *prefix, "-c", str(path), "-o", objects[-1])
    archiver = shutil.which("ar") or "ar"
    subprocess.run([archiver, "rcs", "libslim.a", *objects], check=True, cwd=folder)
    for name in objects:
        (folder / name).unlink()
    include = f"-I{sysconfig.get_paths()['include']}"
    shared = ("-O2", STANDARD, "-fPIC", "-shared", "-fvisibility=hidden", include)
    compile_(*shared, str(HEADERS / "binding" / "binding.cpp"), "-o", "kernelwright_binding.so")
