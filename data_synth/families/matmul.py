"""Matrix products: two matrices, batches of them, and linear layers, each with an epilogue."""

import random
from collections.abc import Sequence

from kernelwright.data_synth.families.elementwise import passes
from kernelwright.data_synth.operators import ACTIVATIONS, CHEAP, Applied, chain
from kernelwright.data_synth.source import (
    answer,
    fill,
    function,
    pointers,
    reference,
    with_vector_math,
)
from kernelwright.data_synth.spec import Spec

SIZES = (64, 96, 128, 192, 256, 320)
EPILOGUE = (*dict.fromkeys((*ACTIVATIONS, *CHEAP)),)

_NAIVE = """
@omp
for (int64_t i = 0; i < m; i++) {
  @batch
  for (int64_t j = 0; j < n; j++) {
    double s = 0.0;
    for (int64_t k = 0; k < d; k++) {
      s += (double)xp[i * d + k] * $w[$at];
    }
    float v = s;
    @ops
    yp[i * n + j] = v;
  }
}
"""
_DOT = """
@omp
for (int64_t i = 0; i < m; i++) {
  for (int64_t j = 0; j < n; j++) {
    float s = 0.0f;
    #pragma omp simd reduction(+:s)
    for (int64_t k = 0; k < d; k++) {
      s += xp[i * d + k] * $w[$at];
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
  @batch
  float* yr = yp + i * n;
  for (int64_t j = 0; j < n; j++) {
    yr[j] = 0.0f;
  }
  for (int64_t k = 0; k < d; k++) {
    float a = xp[i * d + k];
    #pragma omp simd
    for (int64_t j = 0; j < n; j++) {
      yr[j] += a * $w[k * n + j];
    }
  }
  for (int64_t j = 0; j < n; j++) {
    float v = yr[j];
    @ops
    yr[j] = v;
  }
}
"""
# Tiles need rows that are a multiple of 4 and columns that are a multiple of 16: all of SIZES are.
_TILED = """
@omp
for (int64_t i = 0; i < m; i += 4) {
  @batch
  for (int64_t h = 0; h < n; h += 16) {
    float s[4][16] = {};
    for (int64_t k = 0; k < d; k++) {
      for (int64_t a = 0; a < 4; a++) {
        #pragma omp simd
        for (int64_t b = 0; b < 16; b++) {
          s[a][b] += xp[(i + a) * d + k] * $w[k * n + h + b];
        }
      }
    }
    for (int64_t a = 0; a < 4; a++) {
      #pragma omp simd
      for (int64_t j = h; j < h + 16; j++) {
        float v = s[a][j - h];
        @ops
        yp[(i + a) * n + j] = v;
      }
    }
  }
}
"""
_TRANSPOSE = """
auto t = torch::empty({d, n}, x.options());
float* tp = t.data_ptr<float>();
for (int64_t j = 0; j < n; j++) {
  for (int64_t k = 0; k < d; k++) {
    tp[k * n + j] = wp[j * d + k];
  }
}
"""
_BATCH = ("const float* wr = wp + i / r * d * n;",)


def matmul(rng: random.Random) -> Spec:
    """``torch.matmul`` of two matrices, then up to two operators."""
    m, d, n = (rng.choice(SIZES) for _ in range(3))
    head = [
        "int64_t m = x.size(0), d = x.size(1), n = w.size(1);",
        "auto y = torch::empty({m, n}, x.options());",
        *pointers(("x", "w")),
    ]
    return _product(rng, "matmul", head, f"{m}, {d}", f"{d}, {n}")


def bmm(rng: random.Random) -> Spec:
    """``torch.bmm`` of two batches of matrices, then up to two operators."""
    b = rng.choice((4, 8, 16))
    m, d, n = (rng.choice((32, 64, 96, 128)) for _ in range(3))
    head = [
        "int64_t r = x.size(1), m = x.size(0) * r, d = x.size(2), n = w.size(2);",
        "auto y = torch::empty({x.size(0), r, n}, x.options());",
        *pointers(("x", "w")),
    ]
    return _product(rng, "bmm", head, f"{b}, {m}, {d}", f"{b}, {d}, {n}", _BATCH)


def _product(
    rng: random.Random, name: str, head: list[str], x: str, w: str, batch: Sequence[str] = ()
) -> Spec:
    ops = chain(rng, rng.choice((0, 1, 1, 2)), EPILOGUE)
    post = [op.cpp for op in ops]
    inputs = ("x", "w")

    def loops(template: str, lines: Sequence[str], omp: bool = False) -> list[str]:
        pragma = ["#pragma omp parallel for"] * omp
        weight = "wr" if batch else "wp"
        return fill(template, ops=lines, w=weight, at="k * n + j", batch=batch, omp=pragma)

    kernels = {
        "naive": loops(_NAIVE, []) + ["n = m * n;"] * bool(ops) + passes(post),
        "interchanged": loops(_INTERCHANGED, post),
        "tiled": loops(_TILED, post),
        "parallel": loops(_INTERCHANGED, post, omp=True),
        "tiled_parallel": loops(_TILED, post, omp=True),
    }
    bodies = {k: function(head + cpp, inputs) for k, cpp in kernels.items()}
    return Spec(
        family=name,
        operators=(name, *(op.name for op in ops)),
        reference=reference(
            [f"x = torch.{name}(x, w)", *(op.torch for op in ops)],
            [f"torch.randn({x})", f"torch.randn({w})"],
            inputs,
        ),
        answers={
            k: answer(cpp, inputs) for k, cpp in with_vector_math(bodies, "tiled_parallel").items()
        },
    )


def linear(rng: random.Random) -> Spec:
    """``nn.Linear``, then up to two operators."""
    m, d, n = (rng.choice(SIZES) for _ in range(3))
    ops = chain(rng, rng.choice((0, 1, 1, 2)), EPILOGUE)
    init = [f"self.fc = nn.Linear({d}, {n})"]
    passed = ["self.fc.weight", "self.fc.bias"]
    kernels = {k: function(v, ("x", "w", "b")) for k, v in _linear_kernels(ops).items()}
    return Spec(
        family="linear",
        operators=("linear", *(op.name for op in ops)),
        reference=reference(
            ["x = self.fc(x)", *(op.torch for op in ops)], [f"torch.randn({m}, {d})"], init=init
        ),
        answers={
            k: answer(cpp, passed=passed, init=init)
            for k, cpp in with_vector_math(kernels, "transposed_parallel").items()
        },
    )


def _linear_kernels(ops: list[Applied]) -> dict[str, list[str]]:
    head = [
        "int64_t m = x.size(0), d = x.size(1), n = w.size(0);",
        "auto y = torch::empty({m, n}, x.options());",
        *pointers(("x", "w", "b")),
    ]
    post = [op.cpp for op in ops]
    bias = ["v = v + bp[j];"]

    def loops(template: str, lines: Sequence[str], omp: bool = False, w: str = "wp") -> list[str]:
        pragma = ["#pragma omp parallel for"] * omp
        return head + fill(template, ops=lines, w=w, at="j * d + k", batch=(), omp=pragma)

    transposed = _TRANSPOSE + _TILED
    return {
        "naive": loops(_NAIVE, bias) + ["n = m * n;"] * bool(ops) + passes(post),
        "fused_parallel": loops(_NAIVE, bias + post, omp=True),
        "simd": loops(_DOT, bias + post),
        "simd_parallel": loops(_DOT, bias + post, omp=True),
        "transposed": loops(transposed, bias + post, w="tp"),
        "transposed_parallel": loops(transposed, bias + post, omp=True, w="tp"),
    }
