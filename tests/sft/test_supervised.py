"""Supervised fine-tuning end to end: it learns, stops at a plateau, and resumes exactly."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.policy.load import load_policy
from kernelwright.sft.__main__ import main

Arguments = Callable[..., list[str]]


def metrics(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def losses(run: Path) -> dict[int, float]:
    return {row["step"]: row["loss"] for row in metrics(run) if "loss" in row}


def test_it_learns_and_stops_at_a_plateau(
    tmp_path: Path, pairs: Path, arguments: Arguments
) -> None:
    settings = {
        "data": str(pairs),
        "model_name_or_path": "scratch:64x2",
        "vocab_size": 640,
        "max_steps": 400,
        "eval_strategy": "steps",
        "eval_steps": 10,
        "plateau_patience": 2,
        "learning_rate": 0.01,
    }
    assert main(arguments("sft", **settings)) == 0
    summary = json.loads((tmp_path / "sft" / "summary.json").read_text())
    assert summary["train_rows"] == 16 and summary["valid_rows"] == 4
    assert summary["eval_loss_best"] < 0.5 * summary["eval_loss_first"]
    assert summary["steps"] < 400
    evaluated = [row["eval_loss"] for row in metrics(tmp_path / "sft") if "eval_loss" in row]
    assert min(evaluated) == evaluated[-3]  # the last two were not better
    model, tokenizer = load_policy(tmp_path / "sft" / "final")
    assert model.config.hidden_size == 64
    assert tokenizer.eos_token == "<|im_end|>"


def test_a_killed_run_resumes_to_the_same_losses(
    tmp_path: Path, pairs: Path, arguments: Arguments
) -> None:
    settings = {
        "data": str(pairs),
        "model_name_or_path": "scratch:64x2",
        "vocab_size": 640,
        "save_strategy": "steps",
        "save_steps": 3,
        "max_steps": 9,
        "lr_scheduler_type": "cosine",
    }
    assert main(arguments("whole", **settings)) == 0
    whole = losses(tmp_path / "whole")
    killed = tmp_path / "killed"
    assert main(arguments("killed", **settings)) == 0
    # What a kill at step 8 leaves: an older checkpoint, later lines, a torn one, no final/.
    for name in ("checkpoint-6", "checkpoint-9", "final"):
        shutil.rmtree(killed / name)
    (killed / "checkpoint-6").mkdir()
    with (killed / "metrics.jsonl").open("a") as file:
        file.write('{"step": 9, "lo')
    assert main([*arguments("killed", **settings), "--resume", "true"]) == 0
    assert losses(killed) == whole
    assert len(losses(killed)) == len([row for row in metrics(killed) if "loss" in row]) == 9
    assert (killed / "final" / "config.json").is_file()


def test_an_adapter_is_trained_and_loads_back(
    tmp_path: Path, pairs: Path, arguments: Arguments
) -> None:
    settings = {"data": str(pairs), "vocab_size": 640, "max_steps": 2}
    assert main(arguments("base", model_name_or_path="scratch:64x2", **settings)) == 0
    adapted = {"model_name_or_path": str(tmp_path / "base" / "final"), "use_peft": True}
    assert main(arguments("lora", lora_r=4, **settings, **adapted)) == 0
    assert (tmp_path / "lora" / "final" / "adapter_config.json").is_file()
    model, _ = load_policy(tmp_path / "lora" / "final")
    assert type(model).__name__ == "Qwen3ForCausalLM"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"data": "none.jsonl"}, "cannot read pairs none.jsonl"),
        ({"model_name_or_path": "scratch:2m"}, "no model size '2m'"),
        ({"model_name_or_path": "./nothing"}, "no model folder ./nothing"),
        ({"model_name_or_path": None}, "set model_name_or_path"),
        ({"data": ""}, "no pairs to train on"),
        ({"plateau_patience": 2}, "set eval_strategy"),
        ({"vocab_size": 100}, "vocab_size must be at least"),
        ({"max_length": 5}, "no row is within max_length 5"),
        ({"samples_per_prompt": 2}, "data is not used"),
        ({"tasks": "tasks.jsonl"}, "set samples_per_prompt"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2_before_a_folder_is_made(
    tmp_path: Path, pairs: Path, arguments: Arguments, capsys, settings: dict, message: str
) -> None:
    given = {"data": str(pairs), "model_name_or_path": "scratch:64x2", "vocab_size": 640}
    assert main(arguments("run", **{**given, **settings})) == 2
    captured = capsys.readouterr().err
    line = next(each for each in captured.splitlines() if each.startswith("kernelwright: error"))
    assert message in line
    assert not (tmp_path / "run").exists()
