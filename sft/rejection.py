"""Rejection fine-tuning: sample the policy, keep what verifies, train on diverse right answers.

Keeping only the best answer makes a policy say one thing; so all verified answers take part, a few
that differ stand for them, and the policy's entropy is reported before and after.
"""

import json
import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import RunFolder
from kernelwright.policy.generate import mean_entropy
from kernelwright.policy.load import load_for_training, load_policy
from kernelwright.rewards.prompt import messages
from kernelwright.rewards.task import Task
from kernelwright.rewards.task_file import read_tasks
from kernelwright.sft.arguments import SFTArguments
from kernelwright.sft.callbacks import METRICS
from kernelwright.sft.rows import Row
from kernelwright.sft.sampling import Sampler, gather, verifier_options
from kernelwright.sft.selection import epochs, representatives, split
from kernelwright.sft.train import check_plateau, fit, trainable

if TYPE_CHECKING:
    from trl import ModelConfig, SFTConfig

logger = logging.getLogger(__name__)

ENTROPY_SAMPLES = 4
"""Answers for each task on which entropy is measured."""


def rejection(
    own: SFTArguments, config: "SFTConfig", model_config: "ModelConfig", given: dict[str, Any]
) -> RunFolder:
    """Run the stage to ``final/`` and ``summary.json``; returns its folder."""
    tasks = read_tasks(own.tasks)[: own.max_tasks or None]
    check_plateau(own, config, own.valid_share > 0)
    policy, tokenizer, peft_config = load_for_training(model_config)
    policy = policy.to(config.device)  # type: ignore[arg-type]
    options = verifier_options(own, Path(str(config.output_dir)))
    run = RunFolder.open(str(config.output_dir), given, own.resume, own.overwrite)
    _wait(config)
    sampler = Sampler(own, policy, tokenizer, config.seed)
    samples = gather(sampler, tasks, options, run)
    members = representatives(samples, own.representatives)
    if not members:
        raise UserError(
            f"none of {len(samples)} samples of {len(tasks)} tasks was verified; train the policy "
            "longer before, or raise samples_per_prompt"
        )
    before = _entropy_before(sampler, tasks, run)
    train, valid = split(sorted(members), own.valid_share if config.eval_strategy != "no" else 0.0)
    by_id = {task.id: task for task in tasks}
    laid = epochs(members, train, _rows_needed(config, len(train)), config.seed)
    # The rows are laid out epoch after epoch already: one pass, in order.
    config.num_train_epochs, config.train_sampling_strategy = 1, "sequential"
    rows = (
        [_row(own, by_id[task], text) for task, text in laid],
        [_row(own, by_id[task], text) for task in valid for text in members[task]],
    )
    rows = trainable(own, config, tokenizer, rows)
    summary = fit(own, config, policy, tokenizer, peft_config, rows, run)
    summary["epochs"] = round(len(laid) / len(train), 3)
    if config.process_index == 0:
        _conclude(sampler, tasks, run, before, {**_counts(samples, members), **summary})
    return run


def _rows_needed(config: "SFTConfig", tasks: int) -> int:
    if config.max_steps <= 0:
        return math.ceil(tasks * config.num_train_epochs)
    batch = config.per_device_train_batch_size * config.gradient_accumulation_steps
    return config.max_steps * batch * config.world_size


def _row(own: SFTArguments, task: Task, completion: str) -> Row:
    prompt = messages(task, own.backend, own.prompt_style)
    return Row(prompt, [{"role": "assistant", "content": completion}])


def _counts(samples: list[dict[str, Any]], members: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "samples": len(samples),
        "verified": sum(row["verdict"]["status"] == "ok" for row in samples),
        "tasks": len({row["task"] for row in samples}),
        "tasks_verified": len(members),
        "representatives": sum(map(len, members.values())),
    }


def _entropy(sampler: Sampler, tasks: Sequence[Task]) -> float:
    """Mean token entropy on the same tasks with the same seed, whatever the policy."""
    drawn = sampler.draw(tasks[: sampler.own.entropy_prompts], ENTROPY_SAMPLES, "entropy")
    return mean_entropy([each for row in drawn for each in row])


def _entropy_before(sampler: Sampler, tasks: Sequence[Task], run: RunFolder) -> float:
    for row in run.read(METRICS):
        if "entropy_before" in row:
            return float(row["entropy_before"])
    before = _entropy(sampler, tasks)
    run.append(METRICS, {"step": 0, "time_s": 0.0, "entropy_before": before})
    return before


def _conclude(
    sampler: Sampler,
    tasks: Sequence[Task],
    run: RunFolder,
    before: float,
    summary: dict[str, Any],
) -> None:
    own = sampler.own
    policy, tokenizer = load_policy(run.path / "final")
    policy = policy.to(sampler.model.device)  # type: ignore[arg-type]
    after = _entropy(Sampler(own, policy, tokenizer, sampler.seed), tasks)
    ratio = after / before if before else 1.0
    kept = own.entropy_low <= ratio <= own.entropy_high
    if not kept:
        logger.warning(
            "entropy went from %.4f to %.4f nats a token: the ratio %.2f is outside %g to %g",
            before,
            after,
            ratio,
            own.entropy_low,
            own.entropy_high,
        )
    found = {"entropy_before": before, "entropy_after": after, "entropy_ratio": ratio}
    last = run.read(METRICS)[-1]
    run.append(METRICS, {"step": summary["steps"], "time_s": last["time_s"], **found})
    text = json.dumps({**summary, **found, "entropy_in_band": kept}, indent=2)
    (run.path / "summary.json").write_text(text + "\n")


def _wait(config: "SFTConfig") -> None:
    """Until the first process has prepared the folder."""
    if config.distributed_state is not None:
        config.distributed_state.wait_for_everyone()
