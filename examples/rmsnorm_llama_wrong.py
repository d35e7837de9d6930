"""Wrong: divides the sum of squares by n - 1, as an unbiased variance would."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_source = r"""
#include <torch/extension.h>
#include <cmath>

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps) {
  TORCH_CHECK(x.scalar_type() == torch::kFloat32, "float32 only");
  const int64_t n = x.size(-1);
  const int64_t rows = x.numel() / n;
  auto y = torch::empty_like(x);
  const float* xp = x.data_ptr<float>();
  const float* wp = weight.data_ptr<float>();
  float* yp = y.data_ptr<float>();

  #pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = xp + r * n;
    float* out = yp + r * n;
    float lanes[16] = {0};  // sixteen partial sums: vectorised, and rounder than one long chain
    int64_t j = 0;
    for (; j + 16 <= n; j += 16)
      for (int k = 0; k < 16; ++k) lanes[k] += in[j + k] * in[j + k];
    double sum = 0.0;
    for (; j < n; ++j) sum += (double)in[j] * in[j];
    for (int k = 0; k < 16; ++k) sum += lanes[k];
    const float scale = (float)(1.0 / std::sqrt(sum / (n - 1) + eps));
    for (int64_t i = 0; i < n; ++i) out[i] = wp[i] * (in[i] * scale);
  }
  return y;
}
"""

ext = load_inline(
    name="rmsnorm_llama",
    cpp_sources=cpp_source,
    functions=["rms_norm"],
    extra_cflags=["-O3", "-march=native", "-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, hidden_size: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        return ext.rms_norm(hidden_states.contiguous(), self.weight, self.variance_epsilon)
