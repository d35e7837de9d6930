"""Bias, scale and residual: two or three tensors combined, with activations between."""

import random

from kernelwright.data_synth.operators import ACTIVATIONS, chain
from kernelwright.data_synth.source import (
    answer,
    fill,
    function,
    pointers,
    reference,
    vector_math,
    with_vector_math,
)
from kernelwright.data_synth.spec import Spec

SHAPES = ((128, 1024), (256, 512), (256, 1024), (512, 512), (500, 384), (512, 256))
_KINDS = {
    "bias": ("x = x + $n", "v = v + $np[j];", "cols"),
    "scale": ("x = x * $n", "v = v * $np[j];", "cols"),
    "residual": ("x = x + $n", "v = v + $np[i * cols + j];", "rows, cols"),
    "subtract": ("x = x - $n", "v = v - $np[i * cols + j];", "rows, cols"),
    "gate": ("x = x * $n", "v = v * $np[i * cols + j];", "rows, cols"),
    "row_scale": ("x = x * $n", "v = v * $np[i];", "rows, 1"),
}
_PASS = """
@omp
for (int64_t i = 0; i < rows; i++) {
  @simd
  for (int64_t j = 0; j < cols; j++) {
    float v = $source[i * cols + j];
    @ops
    yp[i * cols + j] = v;
  }
}
"""


def sample(rng: random.Random) -> Spec:
    """One or two further tensors, and an activation or none after each."""
    rows, cols = rng.choice(SHAPES)
    names, torch_lines, cpp_lines, tensors = [], [], [], [f"torch.randn({rows}, {cols})"]
    inputs = ["x"]
    for kind in rng.sample(sorted(_KINDS), rng.choice((1, 2, 2))):
        name = "abc"[len(inputs) - 1]
        line, cpp, shape = _KINDS[kind]
        names.append(kind)
        torch_lines.append(line.replace("$n", name))
        cpp_lines.append(cpp.replace("$n", name))
        shape = shape.replace("rows", str(rows)).replace("cols", str(cols))
        tensors.append(f"torch.randn({shape})")
        inputs.append(name)
        for op in chain(rng, rng.choice((0, 1)), ACTIVATIONS):
            names.append(op.name)
            torch_lines.append(op.torch)
            cpp_lines.append(op.cpp)
    return Spec(
        family="fusion",
        operators=tuple(names),
        reference=reference(torch_lines, tensors, inputs),
        answers={name: answer(cpp, inputs) for name, cpp in _mechanisms(cpp_lines, inputs).items()},
    )


def _mechanisms(ops: list[str], inputs: list[str]) -> dict[str, list[str]]:
    head = [
        "int64_t rows = x.size(0), cols = x.size(1);",
        "auto y = torch::empty_like(x);",
        *pointers(inputs),
    ]

    def one(lines: list[str], source: str = "xp", omp: bool = False, simd: bool = False):
        pragma = ["#pragma omp parallel for"] if omp else []
        vector = ["#pragma omp simd"] if simd else []
        return fill(_PASS, source=source, ops=lines, omp=pragma, simd=vector)

    fused = function(head + one(ops, omp=True, simd=True), inputs)
    naive = one([]) + [line for op in ops for line in one([op], "yp")]
    unfused = one([], omp=True) + [line for op in ops for line in one([op], "yp", omp=True)]
    found = {
        "naive": function(head + naive, inputs),
        "unfused_parallel": function(head + unfused, inputs),
        "fused": function(head + one(ops), inputs),
        "fused_parallel": fused,
    }
    both = with_vector_math(found, "fused_parallel")
    if both is not found:
        both["vector"] = vector_math(function(head + one(ops, simd=True), inputs))
    return both
