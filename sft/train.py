"""Train on rows with TRL's SFTTrainer: completion-only loss, to a plateau or the step limit.

Serves plain and rejection fine-tuning; goes on from the last checkpoint in the run folder.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import RunFolder
from kernelwright.policy.checkpoint import forget_after, last_checkpoint
from kernelwright.sft.arguments import SFTArguments
from kernelwright.sft.rows import Row, fitting

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from trl import SFTConfig

logger = logging.getLogger(__name__)


def trainable(
    own: SFTArguments,
    config: "SFTConfig",
    tokenizer: "PreTrainedTokenizerBase",
    rows: tuple[Sequence[Row], Sequence[Row]],
) -> tuple[list[Row], list[Row]]:
    """The training and validation rows that fit; `UserError` where too few are left."""
    train, valid = (fitting(part, tokenizer, config.max_length) for part in rows)
    if not train:
        raise UserError(f"no row is within max_length {config.max_length}; raise it")
    check_plateau(own, config, bool(valid))
    return train, valid


def check_plateau(own: SFTArguments, config: "SFTConfig", has_valid: bool) -> None:
    """`UserError` where evaluation is asked for and cannot be had."""
    evaluates = config.eval_strategy != "no"
    if own.plateau_patience and not evaluates:
        raise UserError("plateau_patience needs evaluations; set eval_strategy and eval_steps")
    if evaluates and not has_valid:
        raise UserError("eval_strategy is set, but there is no validation row to evaluate on")


def fit(
    own: SFTArguments,
    config: "SFTConfig",
    policy: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    peft_config: Any,
    rows: tuple[Sequence[Row], Sequence[Row]],
    run: RunFolder,
) -> dict[str, Any]:
    """Train *policy* on *rows* (training, validation) and write ``final/``; how it went."""
    from datasets import Dataset
    from trl import SFTTrainer

    from kernelwright.sft.callbacks import METRICS, MetricsCallback, PlateauCallback

    train, valid = rows
    callbacks: list[Any] = [MetricsCallback(run)]
    if own.plateau_patience:
        callbacks.append(PlateauCallback(own.plateau_patience, own.plateau_delta))
    trainer = SFTTrainer(
        model=policy,
        args=config,
        train_dataset=Dataset.from_list([asdict(row) for row in train]),
        eval_dataset=Dataset.from_list([asdict(row) for row in valid])
        if config.eval_strategy != "no"
        else None,
        processing_class=tokenizer,
        peft_config=peft_config,
        callbacks=callbacks,
    )
    checkpoint, step = last_checkpoint(run.path)
    if trainer.accelerator.is_main_process:
        forget_after(run, step, [METRICS])
    trainer.accelerator.wait_for_everyone()
    if checkpoint:
        logger.info("going on from %s", checkpoint)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    trainer.save_model(str(run.path / "final"))
    return _summary(trainer.state, len(train), len(valid))


def _summary(state: Any, train: int, valid: int) -> dict[str, Any]:
    losses = [row["eval_loss"] for row in state.log_history if "eval_loss" in row]
    found = {
        "train_rows": train,
        "valid_rows": valid,
        "steps": state.global_step,
        "epochs": round(state.epoch or 0.0, 3),
    }
    return (
        {**found, "eval_loss_first": losses[0], "eval_loss_best": min(losses)} if losses else found
    )
