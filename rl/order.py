"""The order in which prompts are drawn, laid out for the whole run before it begins.

TRL's sampler shuffles each epoch from one generator, so that a run resumed in its second epoch
would see the first epoch's order again. Here an epoch's order depends on seed and epoch alone, and
the trainer sees a single long epoch.
"""

import math
import random
from typing import TYPE_CHECKING

from kernelwright.configs.errors import UserError

if TYPE_CHECKING:
    from trl import GRPOConfig


def task_order(tasks: int, count: int, seed: int) -> list[int]:
    """*count* indices into *tasks* tasks: one shuffled pass after another."""
    order: list[int] = []
    for epoch in range(math.ceil(count / tasks)):
        indices = list(range(tasks))
        random.Random(f"{seed}/{epoch}").shuffle(indices)
        order += indices
    return order[:count]


def plan(config: "GRPOConfig", tasks: int) -> tuple[int, int]:
    """(optimiser steps, prompts) of a run over *tasks* tasks, as *config* asks for it.

    `UserError` where a checkpoint would fall between two uses of the same samples: those are not
    in a checkpoint, so that a run resumed there would draw new ones.
    """
    per_generation, batch = config.steps_per_generation, config.generation_batch_size
    group = config.num_generations
    if per_generation is None or batch is None or group is None:
        raise TypeError("GRPOConfig fills these in when it is made")
    reuse = per_generation * config.num_iterations
    accumulated = config.gradient_accumulation_steps
    per_batch = batch // group
    steps = config.max_steps
    if steps <= 0:
        steps = int(config.num_train_epochs * tasks / per_batch) * reuse // accumulated
    if steps < 1:
        raise UserError(
            f"{tasks} tasks do not fill one batch of {per_batch} prompts; set max_steps"
        )
    every = config.save_steps
    if config.save_strategy == "steps" and every >= 1 and every * accumulated % reuse:
        whole = reuse // math.gcd(reuse, accumulated)
        raise UserError(
            f"save_steps must be a multiple of {whole}, not {every:g}: samples serve "
            f"{whole} steps, and a checkpoint between them cannot be resumed exactly"
        )
    return steps, math.ceil(steps * accumulated / reuse) * per_batch
