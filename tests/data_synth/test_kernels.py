"""Every mechanism of every family computes what its reference does, on a fresh seed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from kernelwright.data_synth.catalogue import FAMILIES, sample
from kernelwright.data_synth.spec import Spec
from kernelwright.rewards.backend import Sources
from kernelwright.rewards.backends.cpu import CpuBackend
from kernelwright.rewards.backends.load_inline import Recorder

SEED = 1009
BACKEND = CpuBackend()


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_mechanism_is_right(family: str, tmp_path: Path) -> None:
    spec = sample(family, SEED)
    BACKEND.prepare()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda source: build(sources(source), tmp_path), spec.answers.values()))
    reference = run(spec.reference)
    model = perturbed(reference["Model"]().train(spec.mode == "train"))
    for scale in (1.0, 16.0, -0.5):
        inputs = scaled(reference["get_inputs"](), spec, scale)
        expected, expected_state = outcome(model, spec, "Model", reference, inputs, torch.float64)
        for name, source in spec.answers.items():
            with Recorder(lambda each: BACKEND.load(build(each, tmp_path))):
                answer = run(source)
            got, state = outcome(model, spec, "ModelNew", answer, inputs, torch.float32)
            assert_close(got, expected, f"{name} at {scale}")
            for key, value in expected_state.items():
                assert_close(state[key], value, f"{name} at {scale}: {key}")


def run(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(source, "module.py", "exec"), namespace)
    return namespace


def sources(source: str) -> Sources:
    with Recorder() as recorder:
        run(source)
    [call] = recorder.calls
    return call


def build(call: Sources, folder: Path) -> Any:
    artefact = BACKEND.build(call, folder)
    assert artefact.headers == "slim"
    return artefact


def perturbed(model: torch.nn.Module) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(SEED)
    for value in (*model.parameters(), *model.buffers()):
        if value.is_floating_point():
            value.data.add_(torch.rand(value.shape, generator=generator) * 0.5)
    return model


def scaled(inputs: list[torch.Tensor], spec: Spec, scale: float) -> list[torch.Tensor]:
    return [value if str(i) in spec.domains else value * scale for i, value in enumerate(inputs)]


def outcome(
    model: torch.nn.Module,
    spec: Spec,
    name: str,
    module: dict[str, Any],
    inputs: list[torch.Tensor],
    dtype: torch.dtype,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The output of a fresh *name* with *model*'s state, and the state after the call."""
    fresh = module[name]().train(spec.mode == "train")
    fresh.load_state_dict(model.state_dict())
    fresh = fresh.to(dtype)
    given = [value.to(dtype) if value.is_floating_point() else value for value in inputs]
    with torch.no_grad():
        output = fresh(*given)
    return output, dict(fresh.named_buffers())


def assert_close(got: torch.Tensor, expected: torch.Tensor, what: str) -> None:
    assert got.shape == expected.shape, what
    scale = expected.double().abs().max().item()
    error = (got.double() - expected.double()).abs().max().item()
    assert error <= 1e-5 * scale + 1e-7, f"{what}: {error:.3g} of {scale:.3g}"
