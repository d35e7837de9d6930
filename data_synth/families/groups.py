"""Group norm of images: each group of channels is one contiguous block."""

import random

from kernelwright.data_synth.families.channels import (
    BOTH,
    CENTRED,
    OMP,
    REDUCE,
    SHAPES,
    SIMD,
    SIZES,
    spec_of,
)
from kernelwright.data_synth.families.elementwise import passes
from kernelwright.data_synth.operators import ACTIVATIONS, chain
from kernelwright.data_synth.source import fill, function, pointers
from kernelwright.data_synth.spec import Spec

_GROUPS = """
int64_t gs = ch / $groups, len = gs * hw;
@omp
for (int64_t g = 0; g < bs * $groups; g++) {
  double s = 0.0, q = 0.0;
  @sums
  double m = s / len;
  float r = 1.0 / sqrt($variance + 1e-5);
  float f = m;
  for (int64_t p = g * gs; p < g * gs + gs; p++) {
    float a = r * wp[p % ch];
    float b = bp[p % ch];
    @simd
    for (int64_t i = p * hw; i < p * hw + hw; i++) {
      float v = (xp[i] - f) * a + b;
      @post
      yp[i] = v;
    }
  }
}
"""
_GROUP_SUMS = """
@simd
for (int64_t i = g * len; i < g * len + len; i++) {
  float v = xp[i];
  $step
}
"""


def group_norm(rng: random.Random) -> Spec:
    """``nn.GroupNorm`` over images."""
    shape = rng.choice(SHAPES)
    groups = rng.choice((2, 4, 8))
    ops = chain(rng, rng.choice((0, 1, 1, 2)), ACTIVATIONS)
    post = [op.cpp for op in ops]
    inputs = ("x", "w", "b")
    head = fill(SIZES, pointers=pointers(inputs))

    def kernel(omp: bool, simd: bool, twice: bool = False) -> list[str]:
        sums = fill(_GROUP_SUMS, step="s += v;" if twice else BOTH, simd=[REDUCE] * simd)
        if twice:
            sums += fill(_GROUP_SUMS, step=CENTRED.replace("$n", "len"), simd=[])
        variance = "q / len" if twice else "fmax(0.0, q / len - m * m)"
        return fill(
            _GROUPS,
            groups=groups,
            sums=sums,
            variance=variance,
            post=[] if twice else post,
            omp=[OMP] * omp,
            simd=[SIMD] * simd,
        )

    kernels = {
        "naive": kernel(False, False, twice=True) + passes(post),
        "fused": kernel(False, False),
        "fused_simd": kernel(False, True),
        "fused_parallel": kernel(True, False),
        "simd_parallel": kernel(True, True),
    }
    bodies = {k: function(head + cpp, inputs) for k, cpp in kernels.items()}
    init = f"self.norm = nn.GroupNorm({groups}, {shape[1]})"
    return spec_of(
        "group_norm",
        shape,
        [op.name for op in ops],
        [op.torch for op in ops],
        bodies,
        ("weight", "bias"),
        init,
        "eval",
    )
