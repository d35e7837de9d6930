"""Answers for the verifier's tests: one honest kernel and many that are not."""

RELU_TASK = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * 0.5


def get_inputs():
    return [torch.randn(256, 512)]


def get_init_inputs():
    return []
"""

CPP = """
#include <torch/extension.h>
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const float* a = x.data_ptr<float>();
  float* b = y.data_ptr<float>();
  long n = x.numel();
  BODY
  return y;
}
"""

LOOP = """
  #pragma omp parallel for simd
  for (long i = 0; i < n; i++) b[i] = a[i] > 0.0f ? a[i] * 0.5f : 0.0f;
"""

ANSWER = '''
import torch
from torch.utils.cpp_extension import load_inline

cpp = r"""CPP"""
ext = load_inline("ext", cpp, functions=["run"])
HEAD

class ModelNew(torch.nn.Module):
    def forward(self, x):
        FORWARD
'''


def answer(
    body: str = LOOP, forward: str = "return ext.run(x)", head: str = "", cpp: str = CPP
) -> str:
    """An answer module around a C++ body, with *forward* and *head* as its Python."""
    text = ANSWER.replace("CPP", cpp.replace("BODY", body))
    return text.replace("HEAD", head).replace("FORWARD", forward)


HONEST = answer()
