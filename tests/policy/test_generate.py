"""Sampling: the same seed gives the same text, whatever the caller's random state."""

import math

import pytest
import torch

from kernelwright.policy.generate import mean_entropy, sample
from kernelwright.policy.scratch import scratch_model
from kernelwright.policy.tokenizer import train_tokenizer

PROMPTS = [[{"role": "user", "content": "ab " * count}] for count in (9, 1, 4)]


@pytest.fixture(scope="module")
def policy():
    tokenizer = train_tokenizer(["ab " * 9, "a line\n" * 5], 512)
    return scratch_model("64x2", tokenizer), tokenizer


def test_a_seed_decides_and_the_callers_random_state_is_left_alone(policy) -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first = sample(*policy, PROMPTS, n=3, max_new_tokens=6, seed=1)
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(6)
    assert sample(*policy, PROMPTS, n=3, max_new_tokens=6, seed=1) == first
    assert sample(*policy, PROMPTS, n=3, max_new_tokens=6, seed=2) != first
    assert [len(rows) for rows in first] == [3, 3, 3]


def test_completions_keep_the_order_of_the_prompts(policy) -> None:
    together = sample(*policy, PROMPTS, temperature=0, max_new_tokens=5)
    alone = [sample(*policy, [prompt], temperature=0, max_new_tokens=5)[0] for prompt in PROMPTS]
    assert [row[0].text for row in together] == [row[0].text for row in alone]


def test_entropy_is_that_of_the_distribution_before_temperature(policy) -> None:
    model, tokenizer = policy
    rows = sample(model, tokenizer, PROMPTS, n=2, temperature=0.3, max_new_tokens=6)
    flat = [row for group in rows for row in group]
    assert 0.9 * math.log(len(tokenizer)) < mean_entropy(flat) <= math.log(len(tokenizer))
    assert all(row.truncated and row.tokens == 6 for row in flat)


def test_an_end_token_ends_and_is_counted(policy) -> None:
    _, tokenizer = policy
    tied = scratch_model("64x2", tokenizer)
    with torch.no_grad():  # an output that always prefers the end token
        weight = torch.zeros_like(tied.lm_head.weight)
        tied.config.tie_word_embeddings = False
        tied.lm_head.weight = torch.nn.Parameter(weight)
        tied.lm_head.bias = torch.nn.Parameter(torch.zeros(len(tokenizer)))
        tied.lm_head.bias[tokenizer.eos_token_id] = 9.0
    row = sample(tied, tokenizer, PROMPTS[:1], temperature=0, max_new_tokens=6)[0][0]
    assert (row.text, row.tokens, row.truncated) == ("", 1, False)
