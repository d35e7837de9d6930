"""Max and average pooling over two dimensions, with operators after."""

import random

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

SHAPES = ("4, 32, 64, 64", "8, 16, 56, 56", "2, 64, 48, 48", "8, 32, 32, 32", "4, 16, 96, 96")
WINDOWS = ((2, 2, 0), (3, 3, 0), (3, 2, 1), (3, 1, 1), (4, 4, 0))
# torch, start, step on the accumulator, end; average pooling counts padding, as PyTorch does.
_KINDS = {
    "max_pool2d": ("F.max_pool2d", "-INFINITY", "$s = v > $s ? v : $s;", "$s"),
    "avg_pool2d": ("F.avg_pool2d", "0.0f", "$s += v;", "$s / $area.0f"),
}
_HEAD = """
int64_t planes = x.size(0) * x.size(1), h = x.size(2), w = x.size(3);
int64_t oh = (h + $twice - $k) / $s + 1, ow = (w + $twice - $k) / $s + 1;
auto y = torch::empty({x.size(0), x.size(1), oh, ow}, x.options());
@pointers
"""
_POINTS = """
@omp
for (int64_t p = 0; p < planes; p++) {
  for (int64_t i = 0; i < oh; i++) {
    for (int64_t j = 0; j < ow; j++) {
      float s = $start;
      for (int64_t a = i * $s - $p; a < i * $s - $p + $k; a++) {
        for (int64_t b = j * $s - $p; b < j * $s - $p + $k; b++) {
          if (a < 0 || a >= h || b < 0 || b >= w) continue;
          float v = xp[(p * h + a) * w + b];
          @step
        }
      }
      float v = $end;
      @post
      yp[(p * oh + i) * ow + j] = v;
    }
  }
}
"""
_ROWS = """
@omp
for (int64_t p = 0; p < planes; p++) {
  for (int64_t i = 0; i < oh; i++) {
    float* yr = yp + (p * oh + i) * ow;
    for (int64_t j = 0; j < ow; j++) {
      yr[j] = $start;
    }
    for (int64_t a = i * $s - $p; a < i * $s - $p + $k; a++) {
      if (a < 0 || a >= h) continue;
      const float* xr = xp + (p * h + a) * w;
      for (int64_t b = -$p; b < $k - $p; b++) {
        int64_t j0 = b < 0 ? (-b + $s - 1) / $s : 0;
        int64_t j1 = (w - 1 - b) / $s + 1 < ow ? (w - 1 - b) / $s + 1 : ow;
        #pragma omp simd
        for (int64_t j = j0; j < j1; j++) {
          float v = xr[j * $s + b];
          @step
        }
      }
    }
    for (int64_t j = 0; j < ow; j++) {
      float v = $end;
      @post
      yr[j] = v;
    }
  }
}
"""


def sample(rng: random.Random) -> Spec:
    """One pooling, then up to two operators."""
    name = rng.choice(sorted(_KINDS))
    torch, start, step, end = _KINDS[name]
    k, s, p = rng.choice(WINDOWS)
    ops = chain(rng, rng.choice((0, 1, 1)), ACTIVATIONS)
    call = f"x = {torch}(x, {k}, stride={s}, padding={p})"
    head = fill(_HEAD, k=k, s=s, twice=2 * p, pointers=pointers())

    def kernel(template: str, omp: str = "") -> list[str]:
        accumulator = "yr[j]" if template == _ROWS else "s"
        body = fill(
            template,
            k=k,
            s=s,
            p=p,
            start=start,
            step=[step.replace("$s", accumulator)],
            end=end.replace("$s", accumulator).replace("$area", str(k * k)),
            post=[op.cpp for op in ops],
            omp=[omp] if omp else [],
        )
        return function(head + body)

    kernels = {
        "naive": kernel(_POINTS),
        "parallel": kernel(_POINTS, "#pragma omp parallel for"),
        "rows": kernel(_ROWS),
        "rows_parallel": kernel(_ROWS, "#pragma omp parallel for"),
    }
    return Spec(
        family="pooling",
        operators=(name, *(op.name for op in ops)),
        reference=reference(
            [call, *(op.torch for op in ops)], [f"torch.randn({rng.choice(SHAPES)})"]
        ),
        answers={k: answer(cpp) for k, cpp in with_vector_math(kernels, "rows_parallel").items()},
    )
