"""What this machine is, as recorded in verdicts: device name, cores, versions. Imports no torch."""

import functools
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0))


@functools.cache
def cpu_name() -> str:
    """The processor's model name and the number of cores that may be used."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{line.split(':', 1)[1].strip()}, {cores()} cores"
    return f"{platform.machine()}, {cores()} cores"


@functools.cache
def compiler() -> str:
    """First line of ``g++ --version``, or "none"."""
    try:
        done = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return "none"
    return done.stdout.splitlines()[0]


@functools.cache
def versions() -> dict[str, str]:
    """Versions that can change a verdict."""
    return {
        "kernelwright": version("kernelwright"),
        "torch": version("torch"),
        "python": platform.python_version(),
        "compiler": compiler(),
    }


def environment(threads: int, device: str) -> dict[str, str]:
    """This process's environment with *threads* for every kernel, and no other say in threading.

    What is timed must not depend on how the caller's own OpenMP is tuned. For kernels of the CPU
    every accelerator is hidden. torch asks NVML whether there is one: the CUDA driver would start a
    thread, and a process with threads cannot fork workers.
    """
    foreign = ("OMP_", "GOMP_", "KMP_", "MKL_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    if device == "cpu":
        kept |= {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""}
    kept["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    return kept | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
