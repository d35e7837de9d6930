"""Sample completions for chat prompts, the same ones for the same seed.

Prompts are sorted by length, so that a batch pads little, and each batch draws from a generator
state of its own: the caller's random state is left as it was. The entropy of a completion is the
mean over its tokens of the model's own distribution, before temperature and top-p, in nats.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Messages = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled answer."""

    text: str
    """Without special tokens."""
    tokens: int
    """Number of tokens, the end token included."""
    truncated: bool
    """It met the token limit before it ended."""
    entropy: float
    """Mean token entropy in nats."""


def sample(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    prompts: Sequence[Messages],
    n: int = 1,
    temperature: float = 1.0,
    top_p: float = 1.0,
    max_new_tokens: int = 512,
    seed: int = 0,
    batch_size: int = 32,
) -> list[list[Completion]]:
    """*n* completions of each prompt, in the order of *prompts*.

    *batch_size* counts completions. A *temperature* of 0 is greedy: *n* equal completions.
    """
    import torch

    texts = [_prompt_text(tokenizer, prompt) for prompt in prompts]
    ids: list[list[int]] = [
        tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts
    ]
    copies = 1 if temperature == 0 else n
    order = sorted(range(len(ids)), key=lambda index: (len(ids[index]), index))
    work = [index for index in order for _ in range(copies)]
    found: list[list[Completion]] = [[] for _ in prompts]
    was_training = model.training
    model.eval()
    try:
        with torch.random.fork_rng():
            for start in range(0, len(work), batch_size):
                chunk = work[start : start + batch_size]
                torch.manual_seed(batch_seed(seed, start))
                rows = _batch(
                    model, tokenizer, [ids[i] for i in chunk], temperature, top_p, max_new_tokens
                )
                for index, row in zip(chunk, rows, strict=True):
                    found[index].append(row)
    finally:
        model.train(was_training)
    return [rows * n if copies < n else rows for rows in found]


def batch_seed(*parts: object) -> int:
    """A seed from *parts*, the same on every machine."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def mean_entropy(completions: Sequence[Completion]) -> float:
    """Entropy per token over all tokens of *completions*; 0 where there are none."""
    tokens = sum(each.tokens for each in completions)
    return sum(each.entropy * each.tokens for each in completions) / tokens if tokens else 0.0


def _prompt_text(tokenizer: "PreTrainedTokenizerBase", prompt: Messages) -> str:
    text = tokenizer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True)
    return str(text)


def _batch(
    model: Any,
    tokenizer: "PreTrainedTokenizerBase",
    ids: list[list[int]],
    temperature: float,
    top_p: float,
    max_new_tokens: int,
) -> list[Completion]:
    import torch
    from transformers import LogitsProcessorList

    width = max(map(len, ids))
    pad = tokenizer.pad_token_id
    inputs = torch.tensor([[pad] * (width - len(row)) + row for row in ids])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in ids])
    entropies: list[torch.Tensor] = []

    def watch(_: "torch.Tensor", logits: "torch.Tensor") -> "torch.Tensor":
        logprobs = logits.float().log_softmax(-1)
        entropies.append(-(logprobs.exp() * logprobs).nansum(-1))
        return logits

    ends = _end_ids(model, tokenizer)
    drawn = {"temperature": temperature, "top_p": top_p, "top_k": 0} if temperature else {}
    with torch.no_grad():
        output = model.generate(
            input_ids=inputs.to(model.device),
            attention_mask=mask.to(model.device),
            do_sample=temperature > 0,
            max_new_tokens=max_new_tokens,
            eos_token_id=ends,
            pad_token_id=pad,
            logits_processor=LogitsProcessorList([watch]),
            **drawn,
        )
    rows = output[:, width:].tolist()
    entropy_B_T = torch.stack(entropies, dim=1).tolist()
    return [
        _completion(tokenizer, row, entropy, ends)
        for row, entropy in zip(rows, entropy_B_T, strict=True)
    ]


def _completion(
    tokenizer: "PreTrainedTokenizerBase", row: list[int], entropy: list[float], ends: list[int]
) -> Completion:
    end = next((place for place, token in enumerate(row) if token in ends), None)
    kept = row if end is None else row[: end + 1]
    text = str(tokenizer.decode(kept, skip_special_tokens=True))
    return Completion(text, len(kept), end is None, sum(entropy[: len(kept)]) / len(kept))


def _end_ids(model: Any, tokenizer: "PreTrainedTokenizerBase") -> list[int]:
    configured = model.generation_config.eos_token_id
    found = configured if isinstance(configured, list) else [configured]
    return sorted({token for token in [*found, tokenizer.eos_token_id] if token is not None})
