"""Two-dimensional convolution, plain and depthwise, with operators after."""

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

# kernel, stride, padding
WINDOWS = ((3, 1, 1), (3, 2, 1), (1, 1, 0), (5, 1, 2), (3, 1, 0))
_HEAD = """
int64_t n = x.size(0), ch = x.size(1), h = x.size(2), wd = x.size(3), co = w.size(0);
int64_t oh = (h + $twice - $k) / $s + 1, ow = (wd + $twice - $k) / $s + 1;
auto y = torch::empty({n, co, oh, ow}, x.options());
@pointers
"""
_POINTS = """
@omp
for (int64_t q = 0; q < n * co; q++) {
  int64_t o = q % co;
  for (int64_t i = 0; i < oh; i++) {
    for (int64_t j = 0; j < ow; j++) {
      double s = bp[o];
      @channels
        for (int64_t a = 0; a < $k; a++) {
          for (int64_t b = 0; b < $k; b++) {
            int64_t r = i * $s + a - $p, t = j * $s + b - $p;
            if (r < 0 || r >= h || t < 0 || t >= wd) continue;
            s += (double)xp[(q / co * ch + $c) * h * wd + r * wd + t] * wp[$at * $k + b];
          }
        }
      }
      float v = s;
      @post
      yp[(q * oh + i) * ow + j] = v;
    }
  }
}
"""
_ROWS = """
@omp
for (int64_t q = 0; q < n * co; q++) {
  int64_t o = q % co;
  for (int64_t i = 0; i < oh; i++) {
    float* yr = yp + (q * oh + i) * ow;
    for (int64_t j = 0; j < ow; j++) {
      yr[j] = bp[o];
    }
    @channels
      for (int64_t a = 0; a < $k; a++) {
        int64_t r = i * $s + a - $p;
        if (r < 0 || r >= h) continue;
        for (int64_t b = 0; b < $k; b++) {
          const float* xr = xp + ((q / co * ch + $c) * h + r) * wd + b - $p;
          float f = wp[$at * $k + b];
          int64_t j0 = b < $p ? ($p - b + $s - 1) / $s : 0;
          int64_t j1 = (wd - 1 - b + $p) / $s + 1 < ow ? (wd - 1 - b + $p) / $s + 1 : ow;
          #pragma omp simd
          for (int64_t j = j0; j < j1; j++) {
            yr[j] += f * xr[j * $s];
          }
        }
      }
    }
    for (int64_t j = 0; j < ow; j++) {
      float v = yr[j];
      @post
      yr[j] = v;
    }
  }
}
"""


def conv2d(rng: random.Random) -> Spec:
    """``nn.Conv2d`` over all channels."""
    window = rng.choice(WINDOWS)
    channels, out = rng.choice((8, 16, 32)), rng.choice((16, 32))
    shape = f"{rng.choice((1, 2))}, {channels}, 32, 32"
    init = f"self.conv = nn.Conv2d({channels}, {out}, {window[0]}, stride={window[1]}"
    loop = "for (int64_t c = 0; c < ch; c++) {"
    return _sample(rng, "conv2d", init, shape, window, (loop, "c", "((o * ch + c) * $k + a)"))


def depthwise_conv2d(rng: random.Random) -> Spec:
    """``nn.Conv2d`` with one filter a channel."""
    window = rng.choice(WINDOWS)
    channels = rng.choice((16, 32, 64))
    shape = f"{rng.choice((2, 4))}, {channels}, {rng.choice(('32, 32', '48, 48', '56, 56'))}"
    init = f"self.conv = nn.Conv2d({channels}, {channels}, {window[0]}, stride={window[1]}"
    part = ("{", "o", "(o * $k + a)")
    return _sample(rng, "depthwise_conv2d", init, shape, window, part, f", groups={channels}")


def _sample(
    rng: random.Random,
    name: str,
    init: str,
    shape: str,
    window: tuple[int, int, int],
    part: tuple[str, str, str],
    groups: str = "",
) -> Spec:
    k, s, p = window
    opening, channel, at = part
    ops = chain(rng, rng.choice((0, 1, 1, 2)), (*ACTIVATIONS, *CHEAP))
    lines = [f"{init}, padding={p}{groups})"]
    inputs = ("x", "w", "b")
    head = fill(_HEAD, k=k, s=s, twice=2 * p, pointers=pointers(inputs))

    def kernel(template: str, omp: bool = False) -> list[str]:
        body = fill(
            template,
            channels=[opening],
            c=channel,
            at=at.replace("$k", str(k)),
            k=k,
            s=s,
            p=p,
            post=[op.cpp for op in ops],
            omp=["#pragma omp parallel for"] * omp,
        )
        return function(head + body, inputs)

    kernels = {
        "naive": kernel(_POINTS),
        "parallel": kernel(_POINTS, omp=True),
        "rows": kernel(_ROWS),
        "rows_parallel": kernel(_ROWS, omp=True),
    }
    return Spec(
        family=name,
        operators=(name, *(op.name for op in ops)),
        reference=reference(
            ["x = self.conv(x)", *(op.torch for op in ops)], [f"torch.randn({shape})"], init=lines
        ),
        answers={
            k: answer(cpp, passed=["self.conv.weight", "self.conv.bias"], init=lines)
            for k, cpp in with_vector_math(kernels, "rows_parallel").items()
        },
    )
