"""Layer norm, RMS norm and L2 normalisation of each row, with operators around them."""

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

SHAPES = ((128, 1024), (256, 512), (512, 512), (250, 384), (256, 768), (64, 2048))
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
_PRE = """
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  yr[j] = v;
}
"""
_SUM = """
double $s = 0.0;
for (int64_t j = 0; j < cols; j++) {
  float v = yr[j];
  $s += $term;
}
"""
_FUSED_SUMS = """
double $sums;
@simdsum
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  yr[j] = v;
  $step
}
"""
_LAST = """
@simd
for (int64_t j = 0; j < cols; j++) {
  float v = $value;
  @post
  yr[j] = v;
}
"""
_SQUARE = "q += (double)v * v;"


def layer_norm(rng: random.Random) -> Spec:
    """``nn.LayerNorm`` over the last dimension, with its weight and bias."""
    return _sample(
        rng,
        "layer_norm",
        "nn.LayerNorm($cols)",
        ("w", "b"),
        sums="s = 0.0, q = 0.0",
        clause="+:s,q",
        step=f"s += v, {_SQUARE}",
        naive=[("s", "v"), ("q", "(v - s / cols) * (v - s / cols)")],
        scale=["float m = s / cols;", "float r = 1.0 / sqrt($var + 1e-5);"],
        variance=("q / cols", "fmax(0.0, q / cols - s / cols * (s / cols))"),
        value="(yr[j] - m) * r * wp[j] + bp[j]",
    )


def rms_norm(rng: random.Random) -> Spec:
    """``nn.RMSNorm`` over the last dimension, with its weight."""
    return _sample(
        rng,
        "rms_norm",
        "nn.RMSNorm($cols, eps=1e-5)",
        ("w",),
        sums="q = 0.0",
        clause="+:q",
        step=_SQUARE,
        naive=[("q", "(double)v * v")],
        scale=["float r = 1.0 / sqrt($var + 1e-5);"],
        variance=("q / cols", "q / cols"),
        value="yr[j] * r * wp[j]",
    )


def normalize(rng: random.Random) -> Spec:
    """``F.normalize`` over the last dimension: division by the L2 norm."""
    return _sample(
        rng,
        "normalize",
        "",
        (),
        sums="q = 0.0",
        clause="+:q",
        step=_SQUARE,
        naive=[("q", "(double)v * v")],
        scale=["float r = 1.0 / fmax($var, 1e-12);"],
        variance=("sqrt(q)", "sqrt(q)"),
        value="yr[j] * r",
    )


def _sample(
    rng: random.Random,
    name: str,
    module: str,
    weights: tuple[str, ...],
    sums: str,
    clause: str,
    step: str,
    naive: list[tuple[str, str]],
    scale: list[str],
    variance: tuple[str, str],
    value: str,
) -> Spec:
    rows, cols = rng.choice(SHAPES)
    before = chain(rng, rng.choice((0, 0, 1)), CHEAP)
    after = chain(rng, rng.choice((0, 1, 1)), ACTIVATIONS)
    call = "self.norm(x)" if module else "F.normalize(x, dim=-1)"
    forward = [op.torch for op in before] + [f"x = {call}"] + [op.torch for op in after]
    init = [f"self.norm = {module}".replace("$cols", str(cols))] if module else []
    pre, post = [op.cpp for op in before], [op.cpp for op in after]
    two_pass, one_pass = ([line.replace("$var", each) for line in scale] for each in variance)

    def kernel(row: list[str], omp: bool = False) -> list[str]:
        pragma = ["#pragma omp parallel for"] * omp
        head = fill(_HEAD, row=row, omp=pragma, pointers=pointers(("x", *weights)))
        return function(head, ("x", *weights))

    def fused(simd: bool) -> list[str]:
        reduce = [f"#pragma omp simd reduction({clause})"] * simd
        first = fill(_FUSED_SUMS, sums=sums, pre=pre, step=step, simdsum=reduce)
        last = fill(_LAST, value=value, post=post, simd=["#pragma omp simd"] * simd)
        return [*first, *one_pass, *last]

    summed = [line for s, term in naive for line in fill(_SUM, s=s, term=term)]
    passes = fill(_PRE, pre=pre) + summed + two_pass + fill(_LAST, value=value, post=[], simd=[])
    passes += [line for op in post for line in fill(_LAST, value="yr[j]", post=[op], simd=[])]
    passed = [f"self.norm.{each}" for each in ("weight", "bias")[: len(weights)]]
    kernels = {
        "naive": kernel(passes),
        "naive_parallel": kernel(passes, omp=True),
        "fused": kernel(fused(False)),
        "fused_simd": kernel(fused(True)),
        "fused_parallel": kernel(fused(False), omp=True),
        "simd_parallel": kernel(fused(True), omp=True),
    }
    kernels = with_vector_math(kernels, "simd_parallel")
    return Spec(
        family=name,
        operators=(*(op.name for op in before), name, *(op.name for op in after)),
        reference=reference(forward, [f"torch.randn({rows}, {cols})"], init=init),
        answers={k: answer(cpp, passed=passed, init=init) for k, cpp in kernels.items()},
    )
