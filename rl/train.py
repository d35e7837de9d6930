"""One reinforcement learning run, from a policy and tasks to ``final/``."""

import logging
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import RunFolder
from kernelwright.policy.checkpoint import forget_after, last_checkpoint
from kernelwright.policy.load import load_for_training
from kernelwright.rewards.prompt import messages
from kernelwright.rewards.task import Task
from kernelwright.rl.arguments import RLArguments
from kernelwright.rl.order import plan, task_order
from kernelwright.rl.reward import KernelReward, VerifyAll

if TYPE_CHECKING:
    from datasets import Dataset
    from transformers import PreTrainedTokenizerBase
    from trl import GRPOConfig, ModelConfig

logger = logging.getLogger(__name__)

BY_STEP = ("metrics.jsonl", "samples.jsonl", "infra.jsonl")
"""Files whose rows belong to a step; verdicts do not, and are kept."""


def verdict_file(folder: Path) -> Path:
    """Where this process keeps verdicts: one file each, since a store has one writer."""
    rank = int(os.environ.get("RANK", "0"))
    return folder / (f"verdicts-{rank}.jsonl" if rank else "verdicts.jsonl")


@dataclass(frozen=True, slots=True)
class Setup:
    """What a run works with; made before its folder is touched, since making it finds mistakes."""

    own: RLArguments
    config: "GRPOConfig"
    tasks: Sequence[Task]
    policy: Any
    tokenizer: "PreTrainedTokenizerBase"
    peft_config: Any
    data: "Dataset"
    """A row for each prompt in the order of the run: ``prompt`` and ``task_index``."""


def prepare(
    own: RLArguments,
    config: "GRPOConfig",
    model_config: "ModelConfig",
    tasks: Sequence[Task],
) -> Setup:
    """Load the policy and lay out the prompts; *config* gets its number of steps."""
    from datasets import Dataset

    policy, tokenizer, peft_config = load_for_training(model_config, own.init_from or None)
    prompts = [messages(task, own.backend, own.prompt_style) for task in tasks]
    limit = getattr(policy.config.get_text_config(), "max_position_embeddings", None)
    fitting = _fitting(prompts, tokenizer, limit, config.max_completion_length or 0)
    config.max_steps, count = plan(config, len(fitting))
    config.shuffle_dataset = False  # the order below is the order of the run
    order = [fitting[each] for each in task_order(len(fitting), count, config.seed)]
    data = Dataset.from_dict({"prompt": prompts, "task_index": range(len(tasks))})
    return Setup(own, config, tasks, policy, tokenizer, peft_config, data.select(order))


def train(setup: Setup, verifier: VerifyAll, run: RunFolder) -> None:
    """Train, and write the policy to ``final/`` in *run*; goes on from a checkpoint there."""
    from kernelwright.rl.callback import MetricsCallback
    from kernelwright.rl.trainer import KernelGRPOTrainer

    reward = _reward(setup, verifier, run)
    trainer = KernelGRPOTrainer(
        model=setup.policy,
        reward_funcs=reward,
        args=setup.config,
        train_dataset=setup.data,
        processing_class=setup.tokenizer,
        peft_config=setup.peft_config,
        callbacks=[MetricsCallback(run, lambda: reward.waited_s)],
        on_advantages=reward.record,
    )
    checkpoint, step = last_checkpoint(run.path)
    if trainer.accelerator.is_main_process:
        forget_after(run, step, BY_STEP)
    trainer.accelerator.wait_for_everyone()
    if checkpoint:
        logger.info("going on from %s", checkpoint)
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    trainer.save_model(str(run.path / "final"))


def _reward(setup: Setup, verifier: VerifyAll, run: RunFolder) -> KernelReward:
    own, tokenizer = setup.own, setup.tokenizer
    seed = f"{setup.config.seed}/{os.environ.get('RANK', '0')}"
    ends = setup.policy.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    return KernelReward(
        verifier,
        setup.tasks,
        decode=lambda ids: str(tokenizer.decode(ids, skip_special_tokens=True)),
        stops=frozenset({*ends, tokenizer.eos_token_id, tokenizer.pad_token_id} - {None}),
        run=run,
        draw=(lambda step: random.Random(f"{seed}/{step}")) if own.random_reward else None,
        ceiling=1.0 + own.reward_lambda * own.reward_nu_max,
    )


def _fitting(
    prompts: Sequence[Any], tokenizer: Any, limit: int | None, completion_tokens: int
) -> list[int]:
    """Indices of prompts that leave room for an answer; TRL never shortens a prompt."""
    if limit is None:
        return list(range(len(prompts)))
    lengths = [
        len(tokenizer.apply_chat_template(each, add_generation_prompt=True)["input_ids"])
        for each in prompts
    ]
    fitting = [i for i, length in enumerate(lengths) if length + completion_tokens <= limit]
    if len(fitting) < len(prompts):
        logger.warning("%d prompts are too long and left out", len(prompts) - len(fitting))
    if not fitting:
        raise UserError(
            f"no prompt fits: the shortest has {min(lengths)} tokens, an answer may have "
            f"{completion_tokens}, the model holds {limit}; lower max_completion_length"
        )
    return fitting
