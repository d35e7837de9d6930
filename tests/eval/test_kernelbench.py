"""A checkout becomes tasks; their size is known without their data; what is too big says so."""

import time
from pathlib import Path

import pytest

from kernelwright.configs.errors import UserError
from kernelwright.eval import kernelbench
from kernelwright.eval.footprint import Footprint, measure
from kernelwright.rewards.task import Task
from kernelwright.rewards.variants import VARIANTS

MATMUL = """
import torch
import torch.nn as nn

N = 256

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(N, width, bias=False)

    def forward(self, x):
        return torch.relu(self.fc(x))

def get_inputs():
    return [torch.rand(64, N)]

def get_init_inputs():
    return [128]
"""
HUGE = """
import torch

class Model(torch.nn.Module):
    def forward(self, a, b):
        return a + b

def get_inputs():
    return [torch.rand(1 << 20, 1 << 14), torch.rand(1 << 20, 1 << 14)]

def get_init_inputs():
    return []
"""
ASKS_FOR_VALUES = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = [rate.item() for rate in torch.linspace(0, 1, 3)]

    def forward(self, x):
        return x * 2 if x.sum().item() > 0 else x

def get_inputs():
    return [torch.rand(8, 8)]

def get_init_inputs():
    return []
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for level, name, text in (
        (1, "10_Sum_of_two.py", HUGE),
        (1, "2_Branch.py", ASKS_FOR_VALUES),
        (2, "1_Linear_ReLU.py", MATMUL),
        (3, "1_Broken.py", "class Model:\n    def forward(self: pass\n"),
    ):
        folder = tmp_path / "KernelBench" / f"level{level}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / "README.md").write_text("not a task")
    return tmp_path


def _task(source: str) -> Task:
    return Task(id="t", source=source)


def test_tasks_come_by_level_and_number(checkout: Path) -> None:
    tasks = kernelbench.load(checkout)
    assert [task.id for task in tasks] == ["kb-l1-002", "kb-l1-010", "kb-l2-001", "kb-l3-001"]
    assert [task.level for task in tasks] == [1, 1, 2, 3]
    assert {(task.provenance, task.licence) for task in tasks} == {("KernelBench", "MIT")}
    assert tasks[2].source == MATMUL and tasks[2].family == "linear_relu"
    assert kernelbench.load(checkout / "KernelBench") == tasks


def test_the_protocol_sets_the_mode(checkout: Path) -> None:
    assert {task.mode for task in kernelbench.load(checkout)} == {"eval"}
    assert {task.mode for task in kernelbench.load(checkout, "kernelbench")} == {"train"}


def test_a_folder_without_tasks_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no KernelBench at"):
        kernelbench.load(tmp_path)


def test_text_that_is_no_module_is_named(checkout: Path) -> None:
    broken = kernelbench.load(checkout)[-1]
    assert kernelbench.readable(broken) == "syntax: line 2"
    assert kernelbench.readable(_task("class Model: pass")) == "lacks get_init_inputs"
    assert kernelbench.readable(_task(MATMUL)) is None


def test_sizes_and_flops_are_counted_by_hand() -> None:
    found = measure(_task(MATMUL))
    assert found.failure == ""
    assert found.shapes == ((64, 256),)
    assert found.input_bytes == 64 * 256 * 4
    assert found.parameter_bytes == 256 * 128 * 4
    assert found.output_bytes == 64 * 128 * 4
    assert found.flops == 2 * 64 * 256 * 128 + 64 * 128
    assert found.operator_bytes == (64 * 256 + 256 * 128 + 64 * 128) * 4


def test_a_task_of_hundreds_of_gigabytes_is_measured_and_refused() -> None:
    found = measure(_task(HUGE))
    assert found.output_bytes == 1 << 36
    why = kernelbench.affordable(found, 8e9, 1e12)
    assert why is not None and why.startswith("not certified here: needs ")
    assert "GB, " in why and why.endswith(" TFLOP")


def test_init_may_ask_for_values_forward_may_not_but_inputs_are_known() -> None:
    found = measure(_task(ASKS_FOR_VALUES))
    assert found.input_bytes == 8 * 8 * 4
    assert found.failure.startswith("forward: RuntimeError")


def test_a_small_task_is_affordable_and_the_limits_hold() -> None:
    small = Footprint(input_bytes=100, output_bytes=100, flops=1000)
    assert kernelbench.affordable(small, 1e6, 1e6) is None
    assert kernelbench.affordable(small, 1e6, 999)
    assert kernelbench.affordable(small, 1000, 1e6)
    assert len(VARIANTS) == kernelbench.TRIALS


def test_a_reference_that_hangs_or_dies_ends_in_time() -> None:
    began = time.perf_counter()
    hangs = measure(_task("while True: pass"), timeout_s=2)
    assert hangs.failure.startswith("timeout") and time.perf_counter() - began < 60
    assert measure(_task("import os\nos._exit(3)")).failure == "crash: the process died"


def test_repeated_operators_are_counted_each_time() -> None:
    looped = MATMUL.replace("torch.relu(self.fc(x))", "[torch.relu(x) for _ in range(5)][0]")
    assert measure(_task(looped)).flops == 5 * 64 * 256


def test_the_command_counts_by_level(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kernelbench.main([str(checkout), "--certify"]) == 0
    printed = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line.split()}
    assert rows["level"] == ["tasks", "read", "built", "affordable", "certified"]
    assert rows["1"] == ["2", "2", "1", "0", "0"]
    assert rows["2"] == ["1", "1", "1", "1", "1"]
    assert rows["3"] == ["1", "0", "0", "0", "0"]
    assert "kb-l1-010: not certified here: needs" in printed
    assert "syntax: line 2" in printed
