"""Small Qwen3 models with random weights, for runs that need no pretrained model.

A size is a name (``1m``, ``3m``, ``6m``: millions of parameters, roughly) or ``HIDDENxLAYERS``.
What is saved is an ordinary model folder: everything downstream loads it by path.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kernelwright.configs.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

PREFIX = "scratch:"
HEAD_DIM = 32
SIZES = {"1m": (128, 4), "3m": (192, 6), "6m": (256, 6)}
"""Name to hidden width and number of layers."""


def dimensions(size: str) -> tuple[int, int]:
    """Hidden width and number of layers of *size*; `UserError` for one that is none."""
    if size in SIZES:
        return SIZES[size]
    match = re.fullmatch(r"(\d+)x(\d+)", size)
    if not match or int(match[1]) % HEAD_DIM or not int(match[1]) or not int(match[2]):
        raise UserError(
            f"no model size {size!r}; sizes: {', '.join(SIZES)}, or HIDDENxLAYERS such as 128x4 "
            f"with a hidden width divisible by {HEAD_DIM}"
        )
    return int(match[1]), int(match[2])


def scratch_model(
    size: str, tokenizer: "PreTrainedTokenizerBase", seed: int = 0, max_length: int = 4096
) -> "PreTrainedModel":
    """A model of *size* for *tokenizer*, its weights drawn from *seed*."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    hidden, layers = dimensions(size)
    heads = hidden // HEAD_DIM
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=HEAD_DIM,
        max_position_embeddings=max_length,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(config)


def save_scratch(
    size: str, tokenizer: "PreTrainedTokenizerBase", folder: Path, seed: int = 0
) -> Path:
    """Write a new model of *size* and *tokenizer* into *folder*; returns it."""
    scratch_model(size, tokenizer, seed).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
