"""Supervised fine-tuning on verified pairs, of a given model or of one made from scratch."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import RunFolder
from kernelwright.policy import scratch
from kernelwright.policy.load import load_for_training
from kernelwright.policy.tokenizer import train_tokenizer
from kernelwright.sft.arguments import SFTArguments
from kernelwright.sft.rows import Row, read_pairs
from kernelwright.sft.train import fit, trainable

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase
    from trl import ModelConfig, SFTConfig


def supervised(
    own: SFTArguments, config: "SFTConfig", model_config: "ModelConfig", given: dict[str, Any]
) -> RunFolder:
    """Run the stage to ``final/`` and ``summary.json``; returns its folder."""
    pairs = read_pairs(own.data)
    name = str(model_config.model_name_or_path)
    size = name.removeprefix(scratch.PREFIX) if name.startswith(scratch.PREFIX) else None
    loaded = None if size else load_for_training(model_config)
    tokenizer = loaded[1] if loaded else _tokenizer(own, str(size), pairs[0])
    rows = trainable(own, config, tokenizer, pairs)
    run = RunFolder.open(str(config.output_dir), given, own.resume, own.overwrite)
    if loaded is None:
        folder = _new_model(config, str(size), tokenizer, run)
        loaded = load_for_training(model_config, folder)
    summary = fit(own, config, *loaded, rows, run)
    if config.process_index == 0:
        (run.path / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    return run


def _tokenizer(own: SFTArguments, size: str, rows: list[Row]) -> "PreTrainedTokenizerBase":
    scratch.dimensions(size)  # refused before any work
    try:
        return train_tokenizer([row.text for row in rows], own.vocab_size)
    except ValueError as error:
        raise UserError(str(error)) from None


def _new_model(
    config: "SFTConfig", size: str, tokenizer: "PreTrainedTokenizerBase", run: RunFolder
) -> Path:
    """The folder of the new model, made by the first process and kept for a resume."""
    folder = run.path / "scratch"
    if config.process_index == 0 and not folder.is_dir():
        part = run.path / "scratch.part"
        scratch.save_scratch(size, tokenizer, part, config.seed)
        part.replace(folder)
    if config.distributed_state is not None:
        config.distributed_state.wait_for_everyone()
    return folder
