"""What every slim build shares, compiled once per machine: precompiled headers, library, binding.

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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from kernelwright.configs.errors import UserError
from kernelwright.rewards.backends.compiler import BASE, STANDARD, admitted, find_compiler
from kernelwright.rewards.backends.link import GOLD, gold_links
from kernelwright.rewards.backends.torch_names import torch_include

HEADERS = Path(__file__).parent / "slim"
PREFIX_HEADER = "kernelwright_prefix.h"
LEAN_HEADER = "kernelwright_lean.h"
_HEADS = {PREFIX_HEADER: "", LEAN_HEADER: "#define KERNELWRIGHT_LEAN\n"}
BINDING = "kernelwright_binding.so"
CACHE_VARIABLE = "KERNELWRIGHT_CACHE"
_VARIANTS = ((), admitted(("-ffast-math",))[0])
"""Extra flags that get a precompiled header of their own; GCC wants them to match."""


@dataclass(frozen=True, slots=True)
class SlimKit:
    """Where the shared parts are."""

    root: Path
    binding: Path
    """The CPython extension that loads candidates' objects."""

    @property
    def library(self) -> Path:
        """The static library behind the slim headers."""
        return self.root / "libslim.a"

    @property
    def linker(self) -> tuple[str, ...]:
        """The flag for gold where it links: it takes a third of the default linker's time."""
        return (GOLD,) if (self.root / "gold").is_file() else ()

    @property
    def includes(self) -> tuple[str, ...]:
        """Include flags: the precompiled headers and the plain ones."""
        return (f"-I{self.root / 'pch'}", f"-I{HEADERS}")


def cache_root() -> Path:
    """``$KERNELWRIGHT_CACHE``, else ``~/.cache/kernelwright``."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else Path.home() / ".cache" / "kernelwright"


def prepare(arch: str = "native", cache: Path | None = None) -> SlimKit:
    """The kit for *arch*; what is not there yet is built first: under a minute, once."""
    compiler = find_compiler()
    if compiler is None:
        raise UserError("no C++ compiler: install g++ (apt install g++)")
    parent = cache or cache_root()
    binding_key, slim_key = _keys(compiler, arch)
    with ThreadPoolExecutor(2) as pool:  # the two take about as long as each other
        binding = pool.submit(
            _cached, parent, f"binding-{binding_key}", lambda at: _build_binding(compiler, at)
        )
        root = pool.submit(
            _cached, parent, f"slim-{slim_key}", lambda at: _build_slim(compiler, arch, at)
        )
        return SlimKit(root.result(), binding.result() / BINDING)


@lru_cache
def _keys(compiler: str, arch: str) -> tuple[str, str]:
    """Names of what the binding and the rest depend on."""
    banner = subprocess.run([compiler, "-v"], capture_output=True, text=True, check=True).stderr
    common = [banner, Path(__file__).read_text(), str(HEADERS)]
    python = [platform.python_version(), sysconfig.get_paths()["include"]]
    binding = [*common, *python, version("torch"), str(torch_include())]
    link = Path(__file__).with_name("link.py").read_text()
    slim = [*common, arch, " ".join(BASE), link, str(shutil.which("ld.gold"))]
    if arch == "native":
        cpu = Path("/proc/cpuinfo").read_text().splitlines()[:40]
        slim += [line for line in cpu if line.startswith(("flags", "model"))]
    for path in sorted(HEADERS.rglob("*")):
        if path.is_file():
            text = [str(path.relative_to(HEADERS)), path.read_text()]
            if path.parent.name == "binding" or path.name == "abi.h":
                binding += text
            if path.parent.name != "binding":
                slim += text
    digests = [hashlib.sha256("\0".join(each).encode()).hexdigest() for each in (binding, slim)]
    return digests[0][:20], digests[1][:20]


def _cached(parent: Path, name: str, build: Callable[[Path], None]) -> Path:
    """The folder *name* of *parent*, filled by *build* if it is not there."""
    folder = parent / name
    if folder.is_dir():
        return folder
    parent.mkdir(parents=True, exist_ok=True)
    with (parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # others wait instead of compiling the same
        if not folder.is_dir():
            fresh = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=parent))
            try:
                build(fresh)
                fresh.chmod(0o755)
                fresh.rename(folder)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _compile(folder: Path, *command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise RuntimeError(f"the cpu backend's shared parts do not compile:\n{done.stderr[:4000]}")


def _build_slim(compiler: str, arch: str, folder: Path) -> None:
    march = f"-march={arch}"
    include = f"-I{HEADERS}"
    (folder / "pch").mkdir()
    for name, head in _HEADS.items():
        # Names of their own: from a precompiled header GCC does not fall back to the plain one.
        headers = folder / "pch" / f"{name}.gch"
        headers.mkdir()
        source = headers.with_suffix("")
        source.write_text(f"{head}#include <torch/extension.h>\n")
        for index, flags in enumerate(_VARIANTS):
            out = str(headers / f"{index}.gch")
            command = (*BASE, march, *flags, include, "-x", "c++-header", str(source), "-o", out)
            _compile(folder, compiler, *command)
    prefix = (f"-I{folder / 'pch'}", include, "-include", PREFIX_HEADER)
    objects = []
    for path in sorted((HEADERS / "library").glob("*.cpp")):
        objects.append(f"{path.stem}.o")
        _compile(folder, compiler, *BASE, march, *prefix, "-c", str(path), "-o", objects[-1])
    _compile(folder, shutil.which("ar") or "ar", "rcs", "libslim.a", *objects)
    for name in objects:
        (folder / name).unlink()
    if gold_links(compiler, folder, (f"-I{HEADERS}",), "libslim.a"):
        (folder / "gold").touch()


def _build_binding(compiler: str, folder: Path) -> None:
    torch = torch_include()
    includes = (torch, torch / "torch" / "csrc" / "api" / "include")
    command = [compiler, "-O3", STANDARD, "-fPIC", "-fno-plt", "-shared", "-fvisibility=hidden"]
    command += [f"-isystem{sysconfig.get_paths()['include']}", *(f"-isystem{i}" for i in includes)]
    command += [str(HEADERS / "binding" / "binding.cpp"), f"-L{torch.parent / 'lib'}"]
    command += ["-lc10", "-ltorch_cpu", "-ltorch_python", "-o", BINDING]
    _compile(folder, *command)
