"""The normaliser of equation 5: a group's token losses are divided by all tokens of *that* group.

Equation 5 is the mean over groups of 1 / Σᵢ|oᵢ| · Σᵢ Σₜ of the clipped surrogate. TRL's ``dapo``
loss divides the sum over the whole generation batch by all its tokens, so that a group of long
answers weighs more. Both agree when an advantage in group g is first multiplied by N / (K·N_g):
N tokens in the batch, K groups, N_g tokens in the group. A positive factor passes through the
clipping unchanged. The KL term is no advantage: it stays a mean over the tokens of the batch.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def group_weights(tokens_P_G: "torch.Tensor", kept_P_G: "torch.Tensor") -> "torch.Tensor":
    """N / (K·N_g) of each group (P, 1), over kept samples only; 0 for a group that left."""
    tokens_P_1 = (tokens_P_G * kept_P_G).sum(1, keepdim=True)
    present_P_1 = tokens_P_1 > 0
    share_P_1 = tokens_P_1.sum() / (present_P_1.sum() * tokens_P_1).clamp(min=1)
    return share_P_1 * present_P_1
