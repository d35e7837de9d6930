"""Linking a candidate's object: the flags, and whether the fast linker works here."""

import subprocess
from pathlib import Path

from kernelwright.rewards.backends.compiler import BASE

LINK = ("-shared", "-Wl,-u,kernelwright_module", "-Wl,-z,defs", "-Wl,--gc-sections")
GOLD = "-fuse-ld=gold"
"""It takes a third of the default linker's time."""
_PROBE = """#include <vector>
#include <torch/extension.h>
extern "C" __attribute__((visibility("default"))) int kernelwright_module(int n) {
  std::vector<double> sums(n);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) sums[i] = i;
  auto t = torch::empty({n});
  if (sums.empty()) throw std::runtime_error("nothing");
  return static_cast<int>(sums[n - 1] + t.numel());
}
"""
"""What a kernel needs of the linker: allocation, exceptions, OpenMP, and our library."""


def gold_links(compiler: str, folder: Path, includes: tuple[str, ...], library: str) -> bool:
    """Whether gold links a small kernel against *library* in *folder*.

    It may be absent. Beside a GCC of another origin it may not find that GCC's libraries, and then
    every candidate would be blamed for it.
    """
    probe = folder / "probe.cpp"
    probe.write_text(_PROBE)
    files = (str(probe), *LINK, GOLD, library, "-o", str(probe.with_suffix(".so")))
    done = subprocess.run([compiler, *BASE, *includes, *files], capture_output=True, cwd=folder)
    for path in folder.glob("probe.*"):
        path.unlink()
    return done.returncode == 0
