"""What a trainer learns from: prompts and completions as chat messages, verified ones only.

The completion is the last message alone, and the reasoning of earlier turns is removed. A row that
does not fit the length limit is left out and counted: cut short, it would teach a broken kernel.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.configs.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

Messages = list[dict[str, str]]
_THOUGHT_END = "</think>"


@dataclass(frozen=True, slots=True)
class Row:
    """One example: what is given and what is to be said."""

    prompt: Messages
    completion: Messages

    @property
    def text(self) -> str:
        """All of it, as a tokenizer is trained on it."""
        return "\n".join(message["content"] for message in (*self.prompt, *self.completion))


def read_pairs(path: str | Path) -> tuple[list[Row], list[Row]]:
    """Training and validation rows of the pairs file *path*; `UserError` where it has none."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UserError(f"cannot read pairs {path}: {error.strerror}") from None
    rows: dict[str, list[Row]] = {"train": [], "valid": []}
    for number, line in enumerate(lines, start=1):
        try:
            pair = json.loads(line)
            if json.loads(pair["verdict"])["status"] == "ok":
                rows[pair["split"]].append(_row(pair))
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise UserError(f"{path}: line {number} is not a pair: {reason}") from None
    if not rows["train"]:
        raise UserError(f"{path} holds no verified pair to train on; make some with synth")
    return rows["train"], rows["valid"]


def _row(pair: dict[str, Any]) -> Row:
    turns: Messages = [*pair["prompt"], *pair["completion"]]
    return Row([_without_thought(message) for message in turns[:-1]], turns[-1:])


def _without_thought(message: dict[str, str]) -> dict[str, str]:
    if message["role"] != "assistant" or _THOUGHT_END not in message["content"]:
        return message
    return {**message, "content": message["content"].rsplit(_THOUGHT_END, 1)[-1].lstrip()}


def fitting(
    rows: Sequence[Row], tokenizer: "PreTrainedTokenizerBase", max_length: int | None
) -> list[Row]:
    """*rows* of at most *max_length* tokens."""
    if max_length is None:
        return list(rows)
    kept = [row for row in rows if _tokens(row, tokenizer) <= max_length]
    if len(kept) < len(rows):
        logger.warning(
            "%d of %d rows left out: longer than max_length %d",
            len(rows) - len(kept),
            len(rows),
            max_length,
        )
    return kept


def _tokens(row: Row, tokenizer: "PreTrainedTokenizerBase") -> int:
    text = tokenizer.apply_chat_template([*row.prompt, *row.completion], tokenize=False)
    return len(tokenizer(text, add_special_tokens=False)["input_ids"])
