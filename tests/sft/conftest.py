"""Pairs and tasks from the catalogue, as ``synth`` writes them, and the smallest settings."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.data_synth.catalogue import sample
from kernelwright.rewards.prompt import answer, messages
from kernelwright.rewards.record import to_line, to_plain
from kernelwright.rewards.task import Task


def task(family: str, seed: int) -> Task:
    return Task(id=f"{family}-{seed}", source=sample(family, seed).reference, family=family)


def pair(each: Task, mechanism: str, source: str, split: str, status: str = "ok") -> dict:
    return {
        "task": to_plain(each),
        "task_id": each.id,
        "family": each.family,
        "mechanism": mechanism,
        "source": source,
        "prompt": messages(each, "cpu", "terse"),
        "completion": [{"role": "assistant", "content": answer(source)}],
        "split": split,
        "verdict": json.dumps({"status": status}),
    }


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = [
        pair(
            task("elementwise", seed),
            "fused",
            sample("elementwise", seed).answers["fused"],
            "valid" if seed % 5 == 0 else "train",
        )
        for seed in range(20)
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(to_line(task("elementwise", seed)) + "\n" for seed in range(3)))
    return file


@pytest.fixture
def arguments(tmp_path: Path) -> Callable[..., list[str]]:
    """The command line of a tiny run in ``tmp_path/name``; later settings win."""
    common = {
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "report_to": "none",
        "disable_tqdm": True,
        "per_device_train_batch_size": 4,
        "learning_rate": 0.003,
        "lr_scheduler_type": "constant",
        "logging_steps": 1,
        "save_strategy": "no",
    }

    def made(name: str, **settings: object) -> list[str]:
        config = tmp_path / f"{name}.yaml"
        config.write_text(json.dumps({**common, **settings, "output_dir": str(tmp_path / name)}))
        return ["--config", str(config)]

    return made
