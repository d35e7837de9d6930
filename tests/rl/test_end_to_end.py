"""The command with real compilers, and a small policy that knows some kernels by heart."""

import os
import signal
import subprocess
import sys
import time

import pytest
import yaml

from kernelwright.configs.run_folder import RunFolder
from kernelwright.rewards.prompt import answer, messages
from kernelwright.rewards.record import to_line
from kernelwright.rewards.task import Task

REFERENCE = """\
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return {op}
def get_inputs():
    return [torch.randn(64, 256)]
def get_init_inputs():
    return []
"""
ANSWER = """\
import torch
from torch.utils.cpp_extension import load_inline
code = r'''
#include <torch/extension.h>
torch::Tensor f(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  const float* a = x.data_ptr<float>();
  float* b = y.data_ptr<float>();
  for (long i = 0; i < x.numel(); ++i) b[i] = {op};
  return y;
}}
'''
kernels = load_inline(name="k", cpp_sources=code, functions=["f"])
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return kernels.f(x.contiguous())
"""
RIGHT = {"torch.relu(x)": "a[i] > 0 ? a[i] : 0", "x * x": "a[i] * a[i]"}
WRONG = ("a[i] + 1", "a[j]")
"""One builds and is off, one does not build."""
TASKS = [
    Task(f"task{index}", REFERENCE.format(op=op), family="pointwise")
    for index, op in enumerate(RIGHT)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tasks and a policy that answers each with the right kernel or one of the wrong ones."""
    import torch

    from kernelwright.policy.scratch import scratch_model
    from kernelwright.policy.tokenizer import train_tokenizer

    folder = tmp_path_factory.mktemp("rl")
    (folder / "tasks.jsonl").write_text("".join(f"{to_line(task)}\n" for task in TASKS))
    pairs = [
        (messages(task, "cpu", "terse"), answer(ANSWER.format(op=op)))
        for task, right in zip(TASKS, RIGHT.values(), strict=True)
        for op in (right, *WRONG)
    ]
    texts = [text for prompt, reply in pairs for text in (prompt[0]["content"], reply)]
    tokenizer = train_tokenizer(texts, vocab_size=600)
    model = scratch_model("64x2", tokenizer)
    chats = [[*prompt, {"role": "assistant", "content": reply}] for prompt, reply in pairs]
    rows = [tokenizer.apply_chat_template(chat, return_dict=False) for chat in chats]
    batch = tokenizer.pad({"input_ids": rows}, padding_side="right", return_tensors="pt")
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(120):
        optimizer.zero_grad()
        model(**batch, labels=labels).loss.backward()
        optimizer.step()
    model.save_pretrained(folder / "policy")
    tokenizer.save_pretrained(folder / "policy")
    config = {
        "init_from": str(folder / "policy"),
        "tasks": str(folder / "tasks.jsonl"),
        "prompt_style": "terse",
        "time_kernels": False,  # what is measured differs between runs, the rest does not
        "max_steps": 3,
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 128,
        "learning_rate": 1e-4,
        "beta": 0.001,
        "logging_steps": 1,
        "save_steps": 1,
        "bf16": False,
        "gradient_checkpointing": False,
        "use_cpu": True,
        "report_to": "none",
    }
    (folder / "rl.yaml").write_text(yaml.safe_dump(config))
    return folder


def command(folder, stage, *given):
    file = str(folder / f"{stage}.yaml")
    return [sys.executable, "-m", f"kernelwright.{stage}", "--config", file, *map(str, given)]


@pytest.mark.slow
def test_a_run_that_was_killed_ends_as_one_that_was_not(folder):
    subprocess.run(command(folder, "rl", "--output_dir", folder / "whole"), check=True)
    cut = command(folder, "rl", "--output_dir", folder / "cut")
    process = subprocess.Popen(cut)
    run = RunFolder(folder / "cut")
    while len(run.read("metrics.jsonl")) < 2:  # the checkpoint of step 2 may be half written
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    subprocess.run([*cut, "--resume", "true"], check=True)

    whole = RunFolder(folder / "whole").read("samples.jsonl")
    found = run.read("samples.jsonl")
    for key in ("step", "task", "completion", "tokens", "truncated", "reward", "advantage"):
        assert [row[key] for row in found] == [row[key] for row in whole], key
    assert len(found) == 3 * 8
    statuses = {row["verdict"]["status"] for row in whole}
    assert "ok" in statuses and statuses & {"correctness_error", "compile_error"}
    assert {row["reward"] for row in whole if row["verdict"]["status"] == "ok"} == {1.0}


@pytest.mark.slow
def test_an_evaluation_that_was_cut_asks_only_for_what_is_missing(folder):
    given = {
        "model": str(folder / "policy"),
        "tasks": str(folder / "tasks.jsonl"),
        "output_dir": str(folder / "eval"),
        "prompt_style": "terse",
        "samples_per_task": 3,
        "max_new_tokens": 128,
        "batch_size": 4,
        "top_p": 1.0,
    }
    (folder / "eval.yaml").write_text(yaml.safe_dump(given))
    subprocess.run(command(folder, "eval"), check=True)
    samples = folder / "eval/samples.jsonl"
    before = RunFolder(folder / "eval").read("samples.jsonl")
    assert {(row["task"], row["sample"]) for row in before} == {
        (task.id, index) for task in TASKS for index in range(3)
    }
    lines = samples.read_text().splitlines(keepends=True)
    samples.write_text("".join(lines[:2]) + lines[2][:40])  # a kill in the middle of a line
    subprocess.run(command(folder, "eval", "--resume", "true"), check=True)
    after = RunFolder(folder / "eval").read("samples.jsonl")

    def texts(rows):
        return {(row["task"], row["sample"]): row["completion"] for row in rows}

    assert len(after) == len(before) and texts(after) == texts(before)
    assert "".join(lines[:2]) == "".join(samples.read_text().splitlines(keepends=True)[:2])
