"""What this machine is and has, as findings: a value, and the cure where something is missing.

It only looks; it installs and changes nothing. It does not measure speed.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate", "datasets")
SIMD = ("avx2", "avx512f", "avx512_bf16", "amx_tile", "asimd", "sve")
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    name: str
    value: str
    cure: str | None = None
    """What to do about it; None where nothing is missing."""
    needed: bool = True
    """False where only some of the work needs it."""


def findings() -> Iterator[Finding]:
    """Everything `doctor` tells, in the order it is told."""
    yield _system()
    yield _python()
    for name in PACKAGES:
        yield _package(name)
    yield _cpu()
    yield _memory()
    yield _disk()
    yield _compiler()
    yield from _accelerators()
    yield from _backends()
    yield from _sandbox()


def _system() -> Finding:
    value = f"{platform.system()} {platform.release()} {platform.machine()}"
    cure = None if sys.platform == "linux" else "Linux is needed: the sandbox is made of its parts"
    return Finding("system", value, cure)


def _python() -> Finding:
    fine = (3, 11) <= sys.version_info[:2] < (3, 14)
    return Finding("python", platform.python_version(), None if fine else "use 3.11, 3.12 or 3.13")


def _package(name: str) -> Finding:
    try:
        return Finding(name, version(name))
    except PackageNotFoundError:
        return Finding(name, "missing", f"pip install -c constraints.txt {name}")


def _cpu() -> Finding:
    info = Path("/proc/cpuinfo")
    words = set(info.read_text().split()) if info.is_file() else set()
    simd = [flag for flag in SIMD if flag in words]
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    cure = None if cores >= 2 else "with one core, timing shares it with everything else"
    return Finding("cpu", f"{cores} cores, {' '.join(simd) or 'no SIMD seen'}", cure, needed=False)


def _memory() -> Finding:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    group = Path("/sys/fs/cgroup/memory.max")
    if group.is_file() and (limit := group.read_text().strip()).isdigit():
        total = min(total, int(limit))
    cure = None if total >= 4 * GIB else "the quick start needs about 4 GiB"
    return Finding("memory", f"{total / GIB:.1f} GiB", cure)


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    cure = None if free >= 2 * GIB else "free some space here: the quick start needs about 2 GiB"
    return Finding("disk", f"{free / GIB:.1f} GiB free here", cure)


def _compiler() -> Finding:
    value = _says("g++", "--version")
    cure = "install a C++17 compiler (Debian, Ubuntu: apt-get install g++)"
    return Finding("g++", value or "missing", None if value else cure)


def _accelerators() -> Iterator[Finding]:
    value = _says("nvcc", "--version", word="release")
    cure = None if value else "install the CUDA toolkit to build CUDA kernels"
    yield Finding("nvcc", value or "missing", cure, needed=False)
    try:
        import torch
    except ImportError:
        return  # told by its own finding
    if torch.accelerator.is_available():
        kind = torch.accelerator.current_accelerator()
        yield Finding("accelerator", f"{torch.accelerator.device_count()} x {kind}")
    else:
        cure = "everything runs on the CPU; large models need a GPU and a torch built for it"
        yield Finding("accelerator", "none", cure, needed=False)


def _backends() -> Iterator[Finding]:
    from kernelwright.cli.backends import statuses

    for name, _, missing in statuses():
        value = "ready" if missing is None else "cannot run"
        yield Finding(f"backend {name}", value, missing, needed=False)


def _sandbox() -> Iterator[Finding]:
    from kernelwright.rewards.sandbox import available

    with tempfile.TemporaryDirectory() as scratch:
        layers = available(Path(scratch))
    for layer, cure in layers.items():
        value = "active" if cure is None else "refused"
        yield Finding(f"sandbox {layer}", value, cure, needed=False)


def _says(*command: str, word: str = "") -> str:
    """The first line with *word* that *command* prints; empty where there is no such program."""
    if shutil.which(command[0]) is None:
        return ""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return next((line for line in done.stdout.splitlines() if word in line), "")
