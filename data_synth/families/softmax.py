"""Softmax and log-softmax over the last dimension, with a scale or an activation around them."""

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

SHAPES = ("128, 1024", "256, 512", "512, 256", "64, 2048", "500, 384", "8, 32, 512")
_HEAD = """
int64_t cols = x.size(-1), rows = x.numel() / cols;
auto y = torch::empty_like(x);
@pointers
@omp
for (int64_t i = 0; i < rows; i++) {
  const float* xr = xp + i * cols;
  float* yr = yp + i * cols;
  @row
}
"""
_THREE = """
float m = -INFINITY;
@simdmax
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  yr[j] = v;
  m = v > m ? v : m;
}
double s = 0.0;
@simdsum
for (int64_t j = 0; j < cols; j++) {
  float v = expf(yr[j] - m);
  @keep
  s += v;
}
float r = $inverse;
@simd
for (int64_t j = 0; j < cols; j++) {
  float v = $last;
  @post
  yr[j] = v;
}
"""
_RECOMPUTED = """
float m = -INFINITY;
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  m = v > m ? v : m;
}
double s = 0.0;
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  s += expf(v - m);
}
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  v = $direct;
  @post
  yr[j] = v;
}
"""
_ONLINE = """
float m = -INFINITY;
double s = 0.0;
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  yr[j] = v;
  if (v > m) {
    s = s * expf(m - v);
    m = v;
  }
  s += expf(v - m);
}
for (int64_t j = 0; j < cols; j++) {
  float v = yr[j];
  v = $direct;
  @post
  yr[j] = v;
}
"""


def softmax(rng: random.Random) -> Spec:
    """``torch.softmax`` with up to one operator on either side."""
    return _sample(
        rng,
        "softmax",
        {
            "keep": ["yr[j] = v;"],
            "inverse": "1.0 / s",
            "last": "yr[j] * r",
            "direct": "expf(v - m) / s",
        },
    )


def log_softmax(rng: random.Random) -> Spec:
    """``torch.log_softmax`` with up to one operator on either side."""
    return _sample(
        rng,
        "log_softmax",
        {
            "keep": [],
            "inverse": "log(s)",
            "last": "yr[j] - m - r",
            "direct": "v - m - log(s)",
        },
    )


def _sample(rng: random.Random, name: str, parts: dict[str, str | list[str]]) -> Spec:
    before = chain(rng, rng.choice((0, 1, 1)), (*CHEAP, "tanh"))
    after = chain(rng, rng.choice((0, 0, 1)), UNBOUNDED)
    forward = [op.torch for op in before] + [f"x = torch.{name}(x, dim=-1)"]
    forward += [op.torch for op in after]
    ops = {"pre": [op.cpp for op in before], "post": [op.cpp for op in after], **parts}

    def kernel(template: str, simd: bool = False, omp: bool = False) -> list[str]:
        row = fill(
            template,
            **ops,
            simd=["#pragma omp simd"] * simd,
            simdmax=["#pragma omp simd reduction(max:m)"] * simd,
            simdsum=["#pragma omp simd reduction(+:s)"] * simd,
        )
        pragma = ["#pragma omp parallel for"] * omp
        return function(fill(_HEAD, row=row, omp=pragma, pointers=pointers()))

    return Spec(
        family=name,
        operators=(*(op.name for op in before), name, *(op.name for op in after)),
        reference=reference(forward, [f"torch.randn({rng.choice(SHAPES)})"]),
        answers={
            "naive": answer(kernel(_RECOMPUTED)),
            "online": answer(kernel(_ONLINE)),
            "three_pass": answer(kernel(_THREE)),
            "parallel": answer(kernel(_THREE, omp=True)),
            "vector": answer(vector_math(kernel(_THREE, simd=True))),
            "vector_parallel": answer(vector_math(kernel(_THREE, simd=True, omp=True))),
        },
    )
