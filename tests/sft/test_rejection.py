"""Rejection fine-tuning end to end, against the real verifier on the CPU backend."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.data_synth.catalogue import sample
from kernelwright.rewards.backend import load_backend
from kernelwright.sft.__main__ import main
from tests.sft.conftest import pair, task

Arguments = Callable[..., list[str]]

pytestmark = pytest.mark.skipif(
    load_backend("cpu").missing() is not None, reason="the cpu backend cannot run here"
)


@pytest.fixture
def policy(tmp_path: Path, arguments: Arguments) -> Path:
    """A policy that knows three tasks in two mechanisms each."""
    file = tmp_path / "few.jsonl"
    rows = [
        pair(task("elementwise", seed), name, sample("elementwise", seed).answers[name], "train")
        for seed in range(3)
        for name in ("fused", "fused_parallel")
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {"model_name_or_path": "scratch:64x2", "vocab_size": 640, "max_steps": 120}
    assert main(arguments("sft", data=str(file), learning_rate=0.01, **settings)) == 0
    return tmp_path / "sft" / "final"


def settings(policy: Path, file: Path, **more: object) -> dict:
    return {
        "model_name_or_path": str(policy),
        "tasks": str(file),
        "samples_per_prompt": 4,
        "prompt_style": "terse",
        "max_new_tokens": 80,
        "sample_batch_size": 8,
        "entropy_prompts": 2,
        "max_steps": 4,
        "learning_rate": 0.0005,
        **more,
    }


def rows(run: Path, name: str = "samples.jsonl") -> list[dict]:
    return [json.loads(line) for line in (run / name).read_text().splitlines()]


@pytest.mark.slow
def test_it_samples_verifies_trains_and_reports_entropy_and_resumes(
    tmp_path: Path, policy: Path, tasks: Path, arguments: Arguments
) -> None:
    given = settings(policy, tasks, eval_strategy="steps", eval_steps=2)
    assert main(arguments("rft", **given)) == 0
    run = tmp_path / "rft"
    samples = rows(run)
    assert len(samples) == 3 * 4
    summary = json.loads((run / "summary.json").read_text())
    assert summary["samples"] == 12
    assert summary["verified"] == sum(row["verdict"]["status"] == "ok" for row in samples) > 0
    assert 2 <= summary["tasks_verified"] <= summary["representatives"]
    assert summary["entropy_before"] > 0 and summary["entropy_after"] > 0
    assert any("entropy_before" in row for row in rows(run, "metrics.jsonl"))
    assert (run / "final" / "config.json").is_file()

    # What a kill in the middle of sampling leaves.
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("config.yaml", "verdicts.jsonl"):
        (killed / name).write_text((run / name).read_text())
    lines = (run / "samples.jsonl").read_text().splitlines(keepends=True)
    (killed / "samples.jsonl").write_text("".join(lines[:5]) + lines[5][:40])
    assert main([*arguments("killed", **given), "--resume", "true"]) == 0
    told = [(row["task"], row["sample"], row["completion"]) for row in samples]
    assert [(row["task"], row["sample"], row["completion"]) for row in rows(killed)] == told
    again = [row.get("loss") for row in rows(killed, "metrics.jsonl")]
    assert again == [row.get("loss") for row in rows(run, "metrics.jsonl")]


def test_nothing_verified_is_one_line_and_exit_2(
    tmp_path: Path, pairs: Path, tasks: Path, arguments: Arguments, capsys
) -> None:
    made = {"data": str(pairs), "model_name_or_path": "scratch:64x2", "vocab_size": 640}
    assert main(arguments("raw", max_steps=1, **made)) == 0
    given = settings(tmp_path / "raw" / "final", tasks, samples_per_prompt=2, max_new_tokens=8)
    assert main(arguments("rft", **given)) == 2
    assert "none of 6 samples of 3 tasks was verified" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": ""}, "set tasks"),
        ({"model_name_or_path": "scratch:1m"}, "needs a trained model"),
        ({"prompt_style": "long"}, "no prompt style 'long'"),
        ({"temperature": 0.0}, "set temperature above 0"),
        ({"backend": "cudda"}, "no backend 'cudda'"),
    ],
)
def test_a_mistake_is_one_line(
    tmp_path: Path, pairs: Path, tasks: Path, arguments: Arguments, capsys, change, message: str
) -> None:
    made = {"data": str(pairs), "model_name_or_path": "scratch:64x2", "vocab_size": 640}
    if "backend" in change:
        assert main(arguments("raw", max_steps=1, **made)) == 0
    assert main(arguments("rft", **settings(tmp_path / "raw" / "final", tasks, **change))) == 2
    assert message in capsys.readouterr().err
