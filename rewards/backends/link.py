"""Linking a candidate's object: the flags, and whether the fast linker works here."""

import subprocess
from pathlib import Path

from kernelwright.rewards.backends.compiler import BASE

LINK = ("-shared", "-Wl,-u,kernelwright_module", "-Wl,-z,defs", "-Wl,--gc-sections")
GOLD = "-fuse-ld=gold"
"""It takes a third of the default linker's time."""
_PROBE = """#include <vector>
#include <torch/extension.h>
torch::Tensor probe(torch::Tensor x) {
  std::vector<double> sums(x.numel());
#pragma omp parallel for
  for (int i = 0; i < x.numel(); ++i) sums[i] = i;
  TORCH_CHECK(!sums.empty(), "nothing");
  return torch::empty_like(x);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("probe", &probe); }
"""
"""What a kernel needs of the linker: allocation, exceptions, OpenMP, and our library."""


def gold_links(compiler: str, folder: Path, includes: tuple[str, ...], library: str) -> bool:
    """Whether gold links a small kernel against *library* in *folder*.

    It may be absent. Beside a GCC of another origin it may not find that GCC's libraries, and then
    every candidate would be blamed for it. ``RuntimeError`` if the kernel does not compile.
    """
    (folder / "probe.cpp").write_text(_PROBE)
    compile_, link = ("-c", "probe.cpp", "-o", "probe.o"), ("probe.o", *LINK, GOLD, library)
    try:
        done = _run(folder, compiler, *BASE, *includes, *compile_)
        if done.returncode:
            raise RuntimeError(f"the probe of the linker does not compile:\n{done.stderr[:4000]}")
        return _run(folder, compiler, *BASE, *link, "-o", "probe.so").returncode == 0
    finally:
        for path in folder.glob("probe.*"):
            path.unlink()


def _run(folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)
