"""Matrix products: two matrices, batches of them, and linear layers, each with an epilogue."""

import random
from collections.abc import Sequence

from kernelwright.data_synth.families.elementwise import passes
from kernelwright.data_synth.operators import ACTIVATIONS, CHEAP, chain
from kernelwright.data_synth.source import answer, fill, function, pointers, reference
from kernelwright.data_synth.spec import Spec

SIZES = (64, 96, 128, 192, 256, 320)
EPILOGUE = (*dict.fromkeys((*ACTIVATIONS, *CHEAP)),)

_NAIVE = """
@omp
for (int64_t i = 0; i < m; i++) {
  for (int64_t j = 0; j < n; j++) {
    double s = 0.0;
    for (int64_t k = 0; k < d; k++) {
      s += (double)xp[i * d + k] * wp[$w];
    }
    float v = s;
    @ops
    yp[i * n + j] = v;
  }
}
"""
_INTERCHANGED = """
@omp
for (int64_t i = 0; i < m; i++) {
  float* yr = yp + i * n;
  for (int64_t j = 0; j < n; j++) {
    yr[j] = 0.0f;
  }
  for (int64_t k = 0; k < d; k++) {
    float a = xp[i * d + k];
    #pragma omp simd
    for (int64_t j = 0; j < n; j++) {
      yr[j] += a * wp[k * n + j];
    }
  }
  for (int64_t j = 0; j < n; j++) {
    float v = yr[j];
    @ops
    yr[j] = v;
  }
}
"""
_TILED = """
@omp
for (int64_t i = 0; i < m; i += 4) {
  for (int64_t j = 0; j < n; j += 16) {
    float s[4][16] = {};
    for (int64_t k = 0; k < d; k++) {
      for (int64_t a = 0; a < 4; a++) {
        #pragma omp simd
        for (int64_t b = 0; b < 16; b++) {
          s[a][b] += xp[(i + a) * d + k] * wp[k * n + j + b];
        }
      }
    }
    for (int64_t a = 0; a < 4; a++) {
      for (int64_t b = 0; b < 16; b++) {
        float v = s[a][b];
        @ops
        yp[(i + a) * n + j + b] = v;
      }
    }
  }
}
"""


def matmul(rng: random.Random) -> Spec:
    """``torch.matmul`` of two matrices, then up to two operators."""
    m, d, n = (rng.choice(SIZES) for _ in range(3))
    ops = chain(rng, rng.choice((0, 1, 1, 2)), EPILOGUE)
    head = [
        "int64_t m = x.size(0), d = x.size(1), n = w.size(1);",
        "auto y = torch::empty({m, n}, x.options());",
        *pointers(("x", "w")),
    ]
    post = [op.cpp for op in ops]
    inputs = ("x", "w")
    kernels = {
        "naive": head + product(_NAIVE, []) + ["n = m * n;"] * bool(ops) + passes(post),
        "interchanged": head + product(_INTERCHANGED, post),
        "tiled": head + product(_TILED, post),
        "parallel": head + product(_INTERCHANGED, post, omp=True),
        "tiled_parallel": head + product(_TILED, post, omp=True),
    }
    return Spec(
        family="matmul",
        operators=("matmul", *(op.name for op in ops)),
        reference=reference(
            ["x = torch.matmul(x, w)", *(op.torch for op in ops)],
            [f"torch.randn({m}, {d})", f"torch.randn({d}, {n})"],
            inputs,
        ),
        answers={k: answer(function(cpp, inputs), inputs) for k, cpp in kernels.items()},
    )


def product(template: str, ops: Sequence[str], omp: bool = False) -> list[str]:
    """The loops of *template*, threaded over rows if *omp*, with *ops* on each result ``v``."""
    return fill(template, ops=ops, w="k * n + j", omp=["#pragma omp parallel for"] * omp)
