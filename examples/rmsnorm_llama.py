"""Root-mean-square normalisation as Llama writes it: in fp32, eps inside the root, learned weight."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, hidden_size: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(input_dtype)


batch_size = 4
sequence_length = 128
hidden_size = 2048


def get_inputs():
    return [torch.randn(batch_size, sequence_length, hidden_size)]


def get_init_inputs():
    return [hidden_size]
