"""A blocked, parallel GEMM of our own; SiLU, product and residual are fused into its ends."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_source = r"""
#include <torch/extension.h>
#include <algorithm>
#include <cmath>
#include <vector>

constexpr int64_t MR = 6;   // rows of x in registers
constexpr int64_t NR = 16;  // columns of the output in registers

typedef float vec __attribute__((vector_size(32)));

static inline vec load(const float* p) {
  vec v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}

// Sixteen rows of a weight [out, in] side by side, so that one step of k is one contiguous load.
static void pack(const float* w, float* panel, int64_t first, int64_t out, int64_t k) {
  for (int64_t j = 0; j < NR; ++j) {
    const bool inside = first + j < out;
    const float* row = w + (first + j) * k;
    for (int64_t p = 0; p < k; ++p) panel[p * NR + j] = inside ? row[p] : 0.0f;
  }
}

// tile[rows, NR] = a[rows, k] @ panel[k, NR]
template <int ROWS>
static void multiply(const float* a, int64_t k, const float* panel, float* tile) {
  vec acc[ROWS][2] = {};
  for (int64_t p = 0; p < k; ++p) {
    const vec b0 = load(panel + p * NR), b1 = load(panel + p * NR + 8);
    for (int i = 0; i < ROWS; ++i) {
      const float v = a[i * k + p];
      acc[i][0] += v * b0;
      acc[i][1] += v * b1;
    }
  }
  for (int i = 0; i < ROWS; ++i) {
    __builtin_memcpy(tile + i * NR, &acc[i][0], sizeof(vec));
    __builtin_memcpy(tile + i * NR + 8, &acc[i][1], sizeof(vec));
  }
}

static void tile_of(int64_t rows, const float* a, int64_t k, const float* panel, float* tile) {
  switch (rows) {
    case 6: return multiply<6>(a, k, panel, tile);
    case 5: return multiply<5>(a, k, panel, tile);
    case 4: return multiply<4>(a, k, panel, tile);
    case 3: return multiply<3>(a, k, panel, tile);
    case 2: return multiply<2>(a, k, panel, tile);
    default: return multiply<1>(a, k, panel, tile);
  }
}

torch::Tensor gated_mlp(torch::Tensor x, torch::Tensor gate, torch::Tensor up, torch::Tensor down) {
  const int64_t k = x.size(-1), m = x.numel() / k, hidden = gate.size(0), out = down.size(0);
  auto inner = torch::empty({m, hidden}, x.options());
  auto y = torch::empty_like(x);
  const float* xp = x.data_ptr<float>();
  const float* gp = gate.data_ptr<float>();
  const float* up_p = up.data_ptr<float>();
  const float* dp = down.data_ptr<float>();
  float* hp = inner.data_ptr<float>();
  float* yp = y.data_ptr<float>();

  #pragma omp parallel
  {
    std::vector<float> one(k * NR), two(k * NR), last(hidden * NR);
    float g[MR * NR], u[MR * NR];
    #pragma omp for schedule(dynamic)
    for (int64_t n = 0; n < hidden; n += NR) {
      pack(gp, one.data(), n, hidden, k);
      pack(up_p, two.data(), n, hidden, k);
      const int64_t columns = std::min(NR, hidden - n);
      for (int64_t i = 0; i < m; i += MR) {
        const int64_t rows = std::min(MR, m - i);
        tile_of(rows, xp + i * k, k, one.data(), g);
        tile_of(rows, xp + i * k, k, two.data(), u);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns; ++c) {
            const float v = g[r * NR + c];
            hp[(i + r) * hidden + n + c] = v / (1.0f + std::exp(-v)) * u[r * NR + c];
          }
      }
    }
    #pragma omp for schedule(dynamic)
    for (int64_t n = 0; n < out; n += NR) {
      pack(dp, last.data(), n, out, hidden);
      const int64_t columns = std::min(NR, out - n);
      for (int64_t i = 0; i < m; i += MR) {
        const int64_t rows = std::min(MR, m - i);
        tile_of(rows, hp + i * hidden, hidden, last.data(), g);
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns; ++c)
            yp[(i + r) * out + n + c] = xp[(i + r) * out + n + c] + g[r * NR + c];
      }
    }
  }
  return y;
}
"""

ext = load_inline(
    name="gated_mlp",
    cpp_sources=cpp_source,
    functions=["gated_mlp"],
    extra_cflags=["-O3", "-march=native", "-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int):
        super().__init__()
        self.gate_proj = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.up_proj = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.down_proj = nn.Linear(intermediate_size, hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return ext.gated_mlp(
            x.contiguous(), self.gate_proj.weight, self.up_proj.weight, self.down_proj.weight
        )
