"""Attention weights: a softmax over the last dimension with temperature, bias and padding mask."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, temperature: float):
        super().__init__()
        self.temperature = temperature

    def forward(self, scores: torch.Tensor, bias: torch.Tensor, keep: torch.Tensor) -> torch.Tensor:
        scores = scores / self.temperature + bias
        scores = scores.masked_fill(~keep, float("-inf"))
        return torch.softmax(scores, dim=-1)


rows = 768
columns = 1000


def get_inputs():
    keep = torch.rand(rows, columns) < 0.8
    keep[:, 0] = True  # no row is masked out entirely
    return [torch.randn(rows, columns), torch.randn(columns), keep]


def get_init_inputs():
    return [0.7]
