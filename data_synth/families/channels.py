"""Batch norm of images, in eval and in train mode; and what other norms over channels share."""

import random

from kernelwright.data_synth.families.elementwise import passes
from kernelwright.data_synth.operators import ACTIVATIONS, chain
from kernelwright.data_synth.source import (
    answer,
    fill,
    function,
    pointers,
    reference,
    with_vector_math,
)
from kernelwright.data_synth.spec import Spec

SHAPES = ((4, 32, 56, 56), (8, 16, 64, 64), (8, 64, 32, 32), (2, 64, 48, 48), (16, 32, 28, 28))
SIZES = """
int64_t bs = x.size(0), ch = x.size(1), hw = x.size(2) * x.size(3), n = x.numel();
auto y = torch::empty_like(x);
@pointers
"""
_EACH = """
for (int64_t i = 0; i < n; i++) {
  int64_t c = i / hw % ch;
  float v = (xp[i] - mp[c]) / sqrtf(sp[c] + 1e-5f) * wp[c] + bp[c];
  yp[i] = v;
}
"""
_PLANES = """
@omp
for (int64_t p = 0; p < bs * ch; p++) {
  int64_t c = p % ch;
  float r = wp[c] / sqrtf(sp[c] + 1e-5f);
  float m = mp[c];
  float b = bp[c];
  @simd
  for (int64_t i = p * hw; i < p * hw + hw; i++) {
    float v = (xp[i] - m) * r + b;
    @post
    yp[i] = v;
  }
}
"""
_TRAIN = """
tp[0] += 1;
@omp
for (int64_t c = 0; c < ch; c++) {
  double s = 0.0, q = 0.0;
  @sums
  double m = s / (bs * hw);
  double u = $variance;
  mp[c] = 0.9f * mp[c] + 0.1f * m;
  sp[c] = 0.9f * sp[c] + 0.1f * u * (bs * hw) / (bs * hw - 1);
  float r = wp[c] / sqrt(u + 1e-5);
  float f = m;
  float b = bp[c];
  for (int64_t a = 0; a < bs; a++) {
    @simd
    for (int64_t i = (a * ch + c) * hw; i < (a * ch + c + 1) * hw; i++) {
      float v = (xp[i] - f) * r + b;
      @post
      yp[i] = v;
    }
  }
}
"""
_SUMS = """
for (int64_t a = 0; a < bs; a++) {
  @simd
  for (int64_t i = (a * ch + c) * hw; i < (a * ch + c + 1) * hw; i++) {
    float v = xp[i];
    $step
  }
}
"""
BOTH = "s += v, q += (double)v * v;"
CENTRED = "q += (v - s / $n) * (v - s / $n);"
SIMD = "#pragma omp simd"
REDUCE = "#pragma omp simd reduction(+:s,q)"
OMP = "#pragma omp parallel for"


def batch_norm(rng: random.Random) -> Spec:
    """``nn.BatchNorm2d`` in eval mode."""
    shape = rng.choice(SHAPES)
    ops = chain(rng, rng.choice((0, 1, 1, 2)), ACTIVATIONS)
    post = [op.cpp for op in ops]
    inputs = ("x", "w", "b", "m", "s")
    head = fill(SIZES, pointers=pointers(inputs))

    def planes(omp: bool, simd: bool) -> list[str]:
        return fill(_PLANES, post=post, omp=[OMP] * omp, simd=[SIMD] * simd)

    kernels = {
        "naive": fill(_EACH) + passes(post),
        "planes": planes(False, False),
        "planes_simd": planes(False, True),
        "planes_parallel": planes(True, True),
    }
    bodies = {k: function(head + cpp, inputs) for k, cpp in kernels.items()}
    fields = ("weight", "bias", "running_mean", "running_var")
    init = f"self.norm = nn.BatchNorm2d({shape[1]})"
    return spec_of(
        "batch_norm",
        shape,
        [op.name for op in ops],
        [op.torch for op in ops],
        bodies,
        fields,
        init,
        "eval",
    )


def batch_norm_train(rng: random.Random) -> Spec:
    """``nn.BatchNorm2d`` in train mode: the running statistics are updated in place."""
    shape = rng.choice(SHAPES)
    ops = chain(rng, rng.choice((0, 1, 1)), ACTIVATIONS)
    post = [op.cpp for op in ops]
    given = ("x", "w", "b", "m", "s", "t")
    head = fill(
        SIZES,
        pointers=[
            *pointers(("x", "w", "b"), ("m", "s", "y")),
            "int64_t* tp = t.data_ptr<int64_t>();",
        ],
    )

    def channels(omp: bool, simd: bool, twice: bool = False) -> list[str]:
        reduce = [REDUCE] * simd
        sums = fill(_SUMS, step="s += v;" if twice else BOTH, simd=reduce)
        if twice:
            sums += fill(_SUMS, step=CENTRED.replace("$n", "(bs * hw)"), simd=[])
        variance = "q / (bs * hw)" if twice else "fmax(0.0, q / (bs * hw) - m * m)"
        last = [] if twice else post
        return fill(
            _TRAIN, sums=sums, variance=variance, post=last, omp=[OMP] * omp, simd=[SIMD] * simd
        )

    kernels = {
        "naive": channels(False, False, twice=True) + passes(post),
        "fused": channels(False, False),
        "fused_simd": channels(False, True),
        "fused_parallel": channels(True, False),
        "simd_parallel": channels(True, True),
    }
    bodies = {k: function(head + cpp, given) for k, cpp in kernels.items()}
    fields = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
    init = f"self.norm = nn.BatchNorm2d({shape[1]})"
    return spec_of(
        "batch_norm_train",
        shape,
        [op.name for op in ops],
        [op.torch for op in ops],
        bodies,
        fields,
        init,
        "train",
    )


def spec_of(
    name: str,
    shape: tuple[int, int, int, int],
    names: list[str],
    after: list[str],
    bodies: dict[str, list[str]],
    fields: tuple[str, ...],
    init: str,
    mode: str,
) -> Spec:
    """The task; the last of *bodies* is the fastest."""
    passed = [f"self.norm.{field}" for field in fields]
    size = ", ".join(map(str, shape))
    return Spec(
        family=name,
        operators=(name, *names),
        reference=reference(["x = self.norm(x)", *after], [f"torch.randn({size})"], init=[init]),
        answers={
            k: answer(cpp, passed=passed, init=[init])
            for k, cpp in with_vector_math(bodies, list(bodies)[-1]).items()
        },
        mode=mode,
    )
