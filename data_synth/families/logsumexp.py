"""``torch.logsumexp`` over the last dimension, with operators before and after."""

import random

from kernelwright.data_synth.families.reduction import UNBOUNDED
from kernelwright.data_synth.operators import CHEAP, chain
from kernelwright.data_synth.source import (
    answer,
    fill,
    function,
    pointers,
    reference,
    vector_math,
)
from kernelwright.data_synth.spec import Spec

SHAPES = ("128, 1024", "256, 512", "512, 256", "64, 2048", "500, 384")
_ROWS = """
int64_t cols = x.size(-1), rows = x.numel() / cols;
auto y = torch::empty({rows}, x.options());
@pointers
@omp
for (int64_t i = 0; i < rows; i++) {
  const float* xr = xp + i * cols;
  float m = -INFINITY;
  double s = 0.0;
  @row
  float v = m + log(s);
  @post
  yp[i] = v;
}
"""
_TWO_PASS = """
@simdmax
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  m = v > m ? v : m;
}
@simdsum
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  s += expf(v - m);
}
"""
_ONLINE = """
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  if (v > m) {
    s = s * expf(m - v);
    m = v;
  }
  s += expf(v - m);
}
"""


def sample(rng: random.Random) -> Spec:
    """Up to one operator before, up to one after."""
    before = chain(rng, rng.choice((0, 1, 1)), (*CHEAP, "tanh"))
    after = chain(rng, rng.choice((0, 1)), UNBOUNDED)
    pre, post = [op.cpp for op in before], [op.cpp for op in after]

    def kernel(template: str, simd: bool = False, omp: bool = False) -> list[str]:
        row = fill(
            template,
            pre=pre,
            simdmax=["#pragma omp simd reduction(max:m)"] * simd,
            simdsum=["#pragma omp simd reduction(+:s)"] * simd,
        )
        pragma = ["#pragma omp parallel for"] * omp
        return function(fill(_ROWS, row=row, post=post, omp=pragma, pointers=pointers()))

    forward = [op.torch for op in before] + ["x = torch.logsumexp(x, dim=-1)"]
    return Spec(
        family="logsumexp",
        operators=(*(op.name for op in before), "logsumexp", *(op.name for op in after)),
        reference=reference(
            forward + [op.torch for op in after], [f"torch.randn({rng.choice(SHAPES)})"]
        ),
        answers={
            "online": answer(kernel(_ONLINE)),
            "naive": answer(kernel(_TWO_PASS)),
            "parallel": answer(kernel(_TWO_PASS, omp=True)),
            "vector": answer(vector_math(kernel(_TWO_PASS, simd=True))),
            "vector_parallel": answer(vector_math(kernel(_TWO_PASS, simd=True, omp=True))),
        },
    )
