"""Transposes that compute: pointwise operators, or a second tensor added, on the way."""

import random

from kernelwright.data_synth.operators import ACTIVATIONS, CHEAP, chain
from kernelwright.data_synth.source import (
    answer,
    fill,
    function,
    pointers,
    reference,
    with_vector_math,
)
from kernelwright.data_synth.spec import Spec

SHAPES = ("8, 256, 256", "4, 512, 256", "16, 128, 256", "4, 384, 512", "2, 768, 512")
_HEAD = """
int64_t b = x.size(0), m = x.size(1), n = x.size(2);
auto y = torch::empty({b, n, m}, x.options());
@pointers
"""
_LOOPS = """
@omp
for (int64_t h = 0; h < b; h++) {
  for (int64_t $outer = 0; $outer < $outermost; $outer++) {
    for (int64_t $inner = 0; $inner < $innermost; $inner++) {
      float v = xp[(h * m + i) * n + j];
      @ops
      yp[(h * n + j) * m + i] = v;
    }
  }
}
"""
_TILED = """
@omp
for (int64_t h = 0; h < b; h++) {
  for (int64_t i0 = 0; i0 < m; i0 += 16) {
    for (int64_t j0 = 0; j0 < n; j0 += 16) {
      for (int64_t j = j0; j < j0 + 16 && j < n; j++) {
        for (int64_t i = i0; i < i0 + 16 && i < m; i++) {
          float v = xp[(h * m + i) * n + j];
          @ops
          yp[(h * n + j) * m + i] = v;
        }
      }
    }
  }
}
"""


def sample(rng: random.Random) -> Spec:
    """``x.transpose(1, 2)`` with one to three operators, perhaps a tensor of the result's shape."""
    shape = rng.choice(SHAPES)
    b, m, n = shape.split(", ")
    ops = chain(rng, rng.choice((1, 1, 2)), (*ACTIVATIONS, *CHEAP))
    names = ["transpose", *(op.name for op in ops)]
    forward = ["x = x.transpose(1, 2)", *(op.torch for op in ops)]
    lines = [op.cpp for op in ops]
    inputs, tensors = ["x"], [f"torch.randn({shape})"]
    if rng.random() < 0.4:
        inputs.append("a")
        names.append("residual")
        forward.append("x = x + a")
        lines.append("v = v + ap[(h * n + j) * m + i];")
        tensors.append(f"torch.randn({b}, {n}, {m})")
    head = fill(_HEAD, pointers=pointers(inputs))
    forward.append("x = x.contiguous()")

    def kernel(template: str, omp: str = "", swap: bool = False) -> list[str]:
        (outer, outermost), (inner, innermost) = (
            (("j", "n"), ("i", "m")) if swap else (("i", "m"), ("j", "n"))
        )
        body = fill(
            template,
            ops=lines,
            omp=[omp] if omp else [],
            outer=outer,
            outermost=outermost,
            inner=inner,
            innermost=innermost,
        )
        return function(head + body, inputs)

    kernels = {
        "naive": kernel(_LOOPS),
        "swapped": kernel(_LOOPS, swap=True),
        "swapped_parallel": kernel(_LOOPS, "#pragma omp parallel for collapse(2)", swap=True),
        "tiled": kernel(_TILED),
        "tiled_parallel": kernel(_TILED, "#pragma omp parallel for collapse(3)"),
    }
    return Spec(
        family="transpose",
        operators=tuple(names),
        reference=reference(forward, tensors, inputs),
        answers={
            k: answer(cpp, inputs)
            for k, cpp in with_vector_math(kernels, "swapped_parallel").items()
        },
    )
