"""The order of prompts, and where a checkpoint may fall."""

from types import SimpleNamespace

import pytest

from kernelwright.configs.errors import UserError
from kernelwright.rl.order import plan, task_order


def config(**given):
    base = {
        "steps_per_generation": 1,
        "num_iterations": 1,
        "gradient_accumulation_steps": 1,
        "generation_batch_size": 16,
        "num_generations": 8,
        "max_steps": -1,
        "num_train_epochs": 1.0,
        "save_strategy": "steps",
        "save_steps": 500,
    }
    return SimpleNamespace(**base | given)


def test_every_epoch_holds_every_task_once_in_another_order():
    order = task_order(10, 25, seed=1)
    first, second, rest = order[:10], order[10:20], order[20:]
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
    assert len(set(rest)) == 5


def test_the_order_is_the_same_for_the_same_seed_and_a_prefix_of_a_longer_run():
    assert task_order(10, 25, seed=1) == task_order(10, 40, seed=1)[:25]
    assert task_order(10, 25, seed=1) != task_order(10, 25, seed=2)


def test_steps_and_prompts_of_a_run():
    assert plan(config(max_steps=5), tasks=3) == (5, 10)
    assert plan(config(num_train_epochs=2.0), tasks=5) == (5, 10)
    accumulating = config(max_steps=5, gradient_accumulation_steps=4)
    assert plan(accumulating, tasks=3) == (5, 40)
    reused = config(max_steps=5, gradient_accumulation_steps=4, steps_per_generation=4)
    assert plan(reused, tasks=3) == (5, 10)
    twice = config(max_steps=5, num_iterations=2)
    assert plan(twice, tasks=3) == (5, 6)


def test_a_checkpoint_between_two_uses_of_the_same_samples_is_refused():
    with pytest.raises(UserError, match="multiple of 2, not 25"):
        plan(config(max_steps=50, num_iterations=2, save_steps=25), tasks=3)
    assert plan(config(max_steps=50, num_iterations=2, save_steps=26), tasks=3)


def test_too_few_tasks_for_one_batch_are_refused():
    with pytest.raises(UserError, match="do not fill one batch of 2 prompts"):
        plan(config(), tasks=1)
