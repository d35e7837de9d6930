"""A gated feed-forward block (SwiGLU) with its residual connection."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int):
        super().__init__()
        self.gate_proj = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.up_proj = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.down_proj = nn.Linear(intermediate_size, hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


batch_size = 2
sequence_length = 64
hidden_size = 256
intermediate_size = 688


def get_inputs():
    return [torch.randn(batch_size, sequence_length, hidden_size)]


def get_init_inputs():
    return [hidden_size, intermediate_size]
