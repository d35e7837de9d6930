"""``kernelwright bench``: verified kernels a minute on this machine, with every defence on.

One verification is extract to verdict, with certificates and baselines made before the clock
starts; cold means that no source was ever built: each candidate carries a constant of its own. The
mix is a quarter each honest, wrong, non-compiling and cheating. Probe shapes only: inputs of half a
megabyte. The last line of ``--json`` holds ``kernels_per_minute``.
"""

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kernelwright.configs.errors import UserError
from kernelwright.rewards import machine
from kernelwright.rewards.backend import installed, load_backend
from kernelwright.rewards.candidate import Candidate
from kernelwright.rewards.options import VerifierOptions
from kernelwright.rewards.task import Task
from kernelwright.rewards.verdict import Status, Verdict

CLASSES = ("honest", "wrong", "non-compiling", "cheating")
_REFERENCE = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {python}


def get_inputs():
    return [torch.randn(256, 512)]


def get_init_inputs():
    return []
"""
_ANSWER = '''
import torch
from torch.utils.cpp_extension import load_inline

cpp = r"""
#include <torch/extension.h>
#include <cmath>
torch::Tensor run(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  const float* a = x.data_ptr<float>();
  float* b = y.data_ptr<float>();
  const long n = x.numel(), tag = {tag};
  #pragma omp parallel for
  for (long i = 0; i < n; i++) {{
    const float v = a[i];
    b[i] = {cpp};
  }}
  return tag > 0 ? y : x;
}}
"""
ext = load_inline("ext", cpp, functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return {forward}
'''
_OPERATORS = (
    ("torch.relu(x) * 0.5", "v > 0.0f ? v * 0.5f : 0.0f"),
    ("torch.sigmoid(x)", "1.0f / (1.0f + std::exp(-v))"),
    ("torch.tanh(x) + 1.0", "std::tanh(v) + 1.0f"),
    ("x * x - x", "v * v - v"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(
        prog="kernelwright bench", description="Verified kernels a minute on this machine."
    )
    parser.add_argument("--backend", default="cpu", help="default: cpu")
    parser.add_argument("--kernels", type=int, default=48, help="candidates to verify (default 48)")
    parser.add_argument("--seed", type=int, default=0, help="order and constants (default 0)")
    parser.add_argument("--json", action="store_true", help="last line: the figures as JSON")
    arguments = parser.parse_args(argv)
    if arguments.backend != "cpu":
        names = ", ".join(sorted(installed()))
        raise UserError(f"no benchmark kernels for {arguments.backend!r} (installed: {names})")
    if reason := load_backend("cpu").missing():
        raise UserError(f"backend 'cpu' cannot run here: {reason}")
    if arguments.kernels < len(CLASSES):
        raise UserError(f"--kernels must be at least {len(CLASSES)}, one of each class")
    figures = measure(arguments.kernels, arguments.seed)
    print(
        f"{figures['kernels_per_minute']:.0f} verified kernels a minute, cold ({figures['device']})"
    )
    for name, seconds in figures["median_s"].items():
        print(f"  {name:14} {seconds:6.2f} s median from start to verdict, alone")
    print("  busy seconds by stage: " + _listed(figures["stage_s"]))
    print("  certificates and baselines, before the clock: " + f"{figures['certify_s']:.1f} s")
    if arguments.json:
        print(json.dumps(figures))
    return 0


def measure(count: int, seed: int) -> dict[str, Any]:
    """Verify *count* fresh candidates together, then one of each class alone."""
    from kernelwright.rewards.verifier import LocalVerifier

    tasks = [Task(f"probe{i}", _REFERENCE.format(python=p)) for i, (p, _) in enumerate(_OPERATORS)]
    with tempfile.TemporaryDirectory(prefix="kernelwright-bench-") as cache:
        options = VerifierOptions(workers=machine.cores(), cache=Path(cache))
        with LocalVerifier(options) as verifier:
            draw = random.Random(seed)
            began = time.perf_counter()
            warm = [(task, _candidate(i, "honest", draw)) for i, task in enumerate(tasks)]
            _expect("honest", verifier.verify_all(warm))
            certify_s = time.perf_counter() - began
            kinds = [CLASSES[i % len(CLASSES)] for i in range(count)]
            draw.shuffle(kinds)
            pairs = [
                (tasks[i % len(tasks)], _candidate(i % len(tasks), kind, draw))
                for i, kind in enumerate(kinds)
            ]
            began = time.perf_counter()
            verdicts = verifier.verify_all(pairs)
            elapsed = time.perf_counter() - began
            for kind, verdict in zip(kinds, verdicts, strict=True):
                _expect(kind, [verdict])
            alone = {}
            for kind in CLASSES:
                took = []
                for index in range(3):
                    began = time.perf_counter()
                    verifier.verify_all([(tasks[index], _candidate(index, kind, draw))])
                    took.append(time.perf_counter() - began)
                alone[kind] = round(statistics.median(took), 3)
    stages = {
        stage: round(sum(v.timings_s.get(stage, 0.0) for v in verdicts), 2)
        for stage in ("build", "run", "time")
    }
    return {
        "kernels_per_minute": round(60 * count / elapsed, 1),
        "kernels": count,
        "elapsed_s": round(elapsed, 2),
        "median_s": alone,
        "stage_s": stages,
        "certify_s": round(certify_s, 2),
        "device": machine.cpu_name(),
        "versions": machine.versions(),
    }


def _candidate(operator: int, kind: str, draw: random.Random) -> Candidate:
    python, cpp = _OPERATORS[operator]
    forward = "ext.run(x)"
    if kind == "wrong":
        cpp = f"({cpp}) + 0.01f"
    if kind == "non-compiling":
        cpp = "undeclared(v)"
    if kind == "cheating":  # half in Python, half behind a kernel whose result is thrown away
        forward = draw.choice((python, f"(ext.run(x), {python})[1]"))
    text = _ANSWER.format(tag=draw.randrange(1, 2**31), cpp=cpp, forward=forward)
    return Candidate.from_source(text)


def _expect(kind: str, verdicts: list[Verdict]) -> None:
    """A benchmark of wrong verdicts would measure nothing: refuse it loudly."""
    wanted = {
        "honest": Status.OK,
        "wrong": Status.CORRECTNESS_ERROR,
        "non-compiling": Status.COMPILE_ERROR,
        "cheating": Status.CHEATING,
    }[kind]
    for verdict in verdicts:
        if verdict.status is not wanted:
            raise RuntimeError(f"{kind} probe was judged {verdict.label}: {verdict.message}")


def _listed(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f} s" for name, value in figures.items())


if __name__ == "__main__":
    sys.exit(main())
