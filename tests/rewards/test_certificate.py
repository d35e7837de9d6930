"""Certificates: tasks that cannot be judged are found by computation, not by name."""

import pytest
import torch

from kernelwright.rewards import blob
from kernelwright.rewards.certificate import certify
from kernelwright.rewards.compare import error, within
from kernelwright.rewards.reference import Invalid, Reference
from kernelwright.rewards.task import Task

MODULE = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(32, 48)
        self.dropout = torch.nn.Dropout(0.5)
    def forward(self, x):
        return {result}
def get_inputs():
    return [torch.{draw}]
"""


def _reference(result: str, draw: str = "randn(16, 32)", mode: str = "eval") -> Reference:
    return Reference(Task("t", MODULE.format(result=result, draw=draw), mode=mode))


@pytest.mark.parametrize(
    ("result", "mode", "detail"),
    [
        ("torch.zeros_like(x) * x", "eval", "null_answer: zeros"),
        ("x * 0 + 3.0", "eval", "null_answer"),
        ("torch.relu(x).clamp(max=0.0)", "eval", "null_answer"),
        ("x.mean(1, keepdim=True) - x.mean(1, keepdim=True)", "eval", "unstable|null_answer"),
        ("x.t()", "eval", "no_compute"),
        ("x.reshape(32, 16).contiguous()", "eval", "no_compute"),
        ("self.dropout(x)", "train", "stochastic"),
        ("torch.rand_like(x) + x", "eval", "stochastic"),
        ("x.nope()", "eval", "forward"),
        ("float(x.exp().sum())", "eval", "no_output"),
        ("x.softmax(1) / 0 * 0 + x", "eval", ""),
    ],
)
def test_a_task_that_cannot_be_judged_says_why(result: str, mode: str, detail: str) -> None:
    if not detail:  # all outputs NaN: any NaN would pass
        detail = "null_answer"
    with pytest.raises(Invalid, match=detail):
        certify(_reference(result, mode=mode), 7)


def test_dropout_is_fine_in_eval_mode() -> None:
    trials, _, _ = certify(_reference("self.dropout(torch.exp(x))"), 7)
    assert len(trials) == 7


def test_a_module_without_model_is_named() -> None:
    with pytest.raises(Invalid, match="lacks_Model"):
        Reference(Task("t", "def get_inputs(): return []"))


def test_tolerance_accepts_honest_reorderings_and_refuses_half_precision() -> None:
    reference = _reference("self.linear(x).softmax(1)", "randn(64, 32)")
    trials, _, _ = certify(reference, 3)
    for trial in trials:
        model = reference.model(0)
        model.load_state_dict(trial.state)
        weight, bias = model.linear.weight.detach(), model.linear.bias.detach()  # type: ignore[union-attr]
        x = trial.inputs[0]
        steps = torch.stack([x[:, k, None] * weight[None, :, k] for k in range(32)])
        total = bias.expand(64, 48).clone()
        for step in steps:  # one long sum in another order than any library's
            total = total + step
        honest = total.softmax(1)
        half = (x.half().float() @ weight.half().float().t() + bias).softmax(1)
        [expected] = blob.tensors_in(trial.expected)
        assert within(error(expected, honest), trial.tolerances[0]), trial.variant
        assert not within(error(expected, half), trial.tolerances[0]), trial.variant


def test_parameters_are_moved_off_their_defaults_in_some_trials() -> None:
    source = MODULE.format(
        result="torch.nn.functional.layer_norm(x, (32,), self.n.weight)", draw="randn(16, 32)"
    ).replace("self.dropout", "self.n = torch.nn.LayerNorm(32)\n        self.d")
    trials, _, _ = certify(Reference(Task("t", source)), 5)
    weights = [trial.state["n.weight"] for trial in trials]
    assert any(not torch.equal(weight, torch.ones(32)) for weight in weights)


def test_an_fp64_oracle_stays_one_through_explicit_casts() -> None:
    reference = _reference("(x.to(torch.float32).exp() + 1e-9).float()")
    trials, _, _ = certify(reference, 1)
    [expected] = blob.tensors_in(trials[0].expected)
    exact = trials[0].inputs[0].double().exp() + 1e-9
    assert expected.dtype is torch.float64
    assert torch.equal(expected, exact)


def test_the_same_seed_gives_the_same_trials() -> None:
    one, _, _ = certify(_reference("torch.tanh(x)"), 11)
    two, _, _ = certify(_reference("torch.tanh(x)"), 11)
    assert all(torch.equal(a.inputs[0], b.inputs[0]) for a, b in zip(one, two, strict=True))


def test_a_mask_of_infinities_is_certified() -> None:
    reference = _reference("x.masked_fill(x > 0, float('-inf')).softmax(1)", "randn(64, 32)")
    trials, dropped, _ = certify(reference, 3)
    assert len(trials) + len(dropped) == 7
    assert [trial.variant for trial in trials][:3] == ["plain"] * 3
