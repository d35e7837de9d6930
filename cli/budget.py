"""What a stage will cost, estimated from its config before anything runs.

Estimates for two laptop cores: a stage that stops early or meets known answers costs less, and a
larger model costs more. A number that the config leaves to a default of its trainer counts as
unknown, and so do the costs that follow from it. The rates were seen once, with the quick start's
model and kernels on two shared cores; they are no promise.
"""

from dataclasses import dataclass
from typing import Any

START_S = 12.0
"""Importing the stack and loading a small model."""
TRAINED_TOKENS_PER_S = 3000.0
SAMPLED_TOKENS_PER_S = 1500.0
VERIFICATIONS_PER_S = 1.0
FILL = 0.2
"""Share of its longest row or completion that a row of the quick start fills."""
SAMPLE_KB = 12.0
"""One line of samples.jsonl: a completion and its verdict."""
MODEL_MB = 20.0
"""The weights of a small model; a checkpoint holds about three times that."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The estimated cost of one stage."""

    tokens: int = 0
    """Trained and sampled."""
    verifications: int = 0
    disk_mb: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Budget") -> "Budget":
        return Budget(
            self.tokens + other.tokens,
            self.verifications + other.verifications,
            self.disk_mb + other.disk_mb,
            self.seconds + other.seconds,
        )


def budget(command: str, config: dict[str, Any]) -> Budget | None:
    """The cost of *command* with the keys of *config*; None where they do not tell."""
    try:
        return _KINDS[command](config)
    except KeyError:
        return None


def _synth(config: dict[str, Any]) -> Budget:
    answers = config["tasks"] * config["answers_per_task"] + config["eval_tasks"]
    return _cost(verifications=answers)


def _sft(config: dict[str, Any]) -> Budget:
    trained = round(_rows(config) * config["max_length"] * FILL)
    drawn = config.get("max_tasks", 0) * config.get("samples_per_prompt", 0)
    sampled = round(drawn * config.get("max_new_tokens", 0) * FILL)
    return _cost(trained, sampled, drawn, models=4)


def _rl(config: dict[str, Any]) -> Budget:
    samples = _rows(config)
    tokens = round(samples * config["max_completion_length"] * FILL)
    return _cost(tokens, tokens, samples, models=4)


def _eval(config: dict[str, Any]) -> Budget:
    samples = config["max_tasks"] * config["samples_per_task"]
    sampled = round(samples * config["max_new_tokens"] * FILL)
    return _cost(sampled=sampled, verifications=samples)


def _report(_: dict[str, Any]) -> Budget:
    return Budget(disk_mb=5, seconds=START_S)


_KINDS = {"synth": _synth, "sft": _sft, "rl": _rl, "eval": _eval, "report": _report}


def _rows(config: dict[str, Any]) -> int:
    """Rows that the trainer sees, all steps together, on one process."""
    accumulated: int = config["gradient_accumulation_steps"]
    rows: int = config["max_steps"] * config["per_device_train_batch_size"] * accumulated
    return rows


def _cost(trained: int = 0, sampled: int = 0, verifications: int = 0, models: int = 0) -> Budget:
    seconds = (
        START_S
        + trained / TRAINED_TOKENS_PER_S
        + sampled / SAMPLED_TOKENS_PER_S
        + verifications / VERIFICATIONS_PER_S
    )
    disk_mb = 1 + verifications * SAMPLE_KB / 1024 + models * MODEL_MB
    return Budget(trained + sampled, verifications, disk_mb, seconds)
