"""Wrong: exponentials without subtracting the row's maximum, so large scores overflow."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_source = r"""
#include <torch/extension.h>
#include <cmath>

torch::Tensor softmax(torch::Tensor scores, torch::Tensor bias, torch::Tensor keep, double t) {
  const int64_t n = scores.size(-1), rows = scores.numel() / n;
  auto y = torch::empty_like(scores);
  const float* sp = scores.data_ptr<float>();
  const float* bp = bias.data_ptr<float>();
  const bool* kp = keep.data_ptr<bool>();
  float* yp = y.data_ptr<float>();
  const float temperature = (float)t;

  #pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0.0;
    for (int64_t j = 0; j < n; ++j) {
      const int64_t i = r * n + j;
      const float e = kp[i] ? std::exp(sp[i] / temperature + bp[j]) : 0.0f;
      yp[i] = e;
      sum += e;
    }
    for (int64_t j = 0; j < n; ++j) yp[r * n + j] /= (float)sum;
  }
  return y;
}
"""

ext = load_inline(
    name="softmax_masked",
    cpp_sources=cpp_source,
    functions=["softmax"],
    extra_cflags=["-O3", "-march=native", "-fopenmp"],
)


class ModelNew(nn.Module):
    def __init__(self, temperature: float):
        super().__init__()
        self.temperature = temperature

    def forward(self, scores: torch.Tensor, bias: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        return ext.softmax(
            scores.contiguous(), bias.contiguous(), keep.contiguous(), self.temperature
        )
