"""Which samples stay in a group, and how a group is weighed (equation 5), by hand."""

import torch

from kernelwright.rl.advantage import kept, varied
from kernelwright.rl.loss import group_weights

NO = float("nan")


def test_unscored_samples_leave_and_take_a_lonely_sample_with_them():
    rewards = torch.tensor([[1.0, NO, -1.0], [1.0, NO, NO], [NO, NO, NO], [0.0, 0.0, 0.0]])
    assert kept(rewards).tolist() == [
        [True, False, True],
        [False, False, False],
        [False, False, False],
        [True, True, True],
    ]


def test_a_group_of_equal_rewards_teaches_nothing():
    rewards = torch.tensor([[1.1, 1.1, 1.1], [1.0, NO, 1.0], [NO, NO, NO], [1.0, NO, 2.0]])
    assert varied(rewards).flatten().tolist() == [False, False, False, True]


def test_weights_turn_the_batch_normaliser_into_the_groups_own():
    tokens = torch.tensor([[10, 30], [2, 8], [5, 5]])
    stays = torch.tensor([[True, True], [True, True], [False, False]])
    # 50 tokens kept, two groups of 40 and of 10
    assert group_weights(tokens, stays).flatten().tolist() == [50 / 80, 50 / 20, 0.0]


def test_a_sample_that_left_is_not_counted_in_its_group():
    tokens = torch.tensor([[10, 30, 999], [2, 8, 10]])
    stays = torch.tensor([[True, True, False], [True, True, True]])
    assert group_weights(tokens, stays).flatten().tolist() == [60 / 80, 60 / 40]


def test_groups_of_equally_many_tokens_weigh_as_trl_weighs_them():
    tokens = torch.tensor([[10, 30], [20, 20]])
    assert group_weights(tokens, torch.ones(2, 2, dtype=torch.bool)).flatten().tolist() == [1, 1]


def test_a_batch_without_samples_has_no_weight():
    weights = group_weights(torch.tensor([[4, 4]]), torch.zeros(1, 2, dtype=torch.bool))
    assert weights.tolist() == [[0.0]]
