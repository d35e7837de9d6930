"""Which samples of a group may teach, and which groups teach anything (equation 3).

Equation 3 is (r - group mean) / (group std + ε); TRL computes it over the scored samples of a
group, with ε = 1e-4 and the std that divides by n - 1. Two things it leaves open are decided here.
Names end in their shape: P prompts, G samples each; a reward is NaN where a sample has no score.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

MIN_SCORED = 2
"""A group with fewer scored samples has no spread to compare with, and leaves the batch."""


def kept(rewards_P_G: "torch.Tensor") -> "torch.Tensor":
    """Samples that stay: scored, in a group that has at least two scored ones."""
    scored_P_G = ~rewards_P_G.isnan()
    return scored_P_G & (scored_P_G.sum(1, keepdim=True) >= MIN_SCORED)


def varied(rewards_P_G: "torch.Tensor") -> "torch.Tensor":
    """Groups (P, 1) whose scored rewards are not all the same.

    Decided by comparison: rounding in the mean, divided by ε, would make a constant group teach.
    """
    low_P_1 = rewards_P_G.nan_to_num(nan=float("inf")).amin(1, keepdim=True)
    high_P_1 = rewards_P_G.nan_to_num(nan=float("-inf")).amax(1, keepdim=True)
    return high_P_1 > low_P_1
