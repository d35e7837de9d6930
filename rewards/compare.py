"""How far an output is from the fp64 oracle, and whether that is within a tolerance.

Errors are relative to the size of the slice they fall in: the root mean square of the oracle's last
dimension, floored by a thousandth of the whole output's, so that small outputs cannot hide behind
an absolute tolerance and one large slice cannot hide a wrong small one. Integer and boolean outputs
are compared exactly. Non-finite values must stand in the same places.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch

from kernelwright.rewards import blob


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Bounds on the error of one output tensor; both must hold."""

    largest: float
    rms: float


@dataclass(frozen=True, slots=True)
class Error:
    """The error of one output tensor."""

    largest: float
    rms: float


def mismatch(expected: Any, given: Any, dtypes: list[str]) -> str | None:
    """The first difference in structure, shape or type between two nested outputs, or None."""
    if (wanted := _shape_of(expected)) != (got := _shape_of(given)):
        return f"structure: expected {wanted}, got {got}"
    pairs = zip(blob.tensors_in(expected), blob.tensors_in(given), dtypes, strict=True)
    for position, (one, other, dtype) in enumerate(pairs):
        if one.shape != other.shape:
            return f"shape: output {position} is {list(other.shape)}, expected {list(one.shape)}"
        if str(other.dtype) != dtype:
            return f"dtype: output {position} is {other.dtype}, expected {dtype}"
    return None


def _shape_of(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_shape_of(v)}" for k, v in sorted(value.items())) + "}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(_shape_of, value))})"
    return type(value).__name__


def error(
    expected: torch.Tensor, given: torch.Tensor, scale: torch.Tensor | None = None
) -> Error | None:
    """The error of *given* against the oracle *expected*; None where masks or integers differ.

    *scale* is `slice_scale(expected)`, where the caller has it already.
    """
    if not expected.is_floating_point():
        return Error(0.0, 0.0) if torch.equal(expected, given.to(expected.dtype)) else None
    if expected.numel() == 0:
        return Error(0.0, 0.0)
    difference = (given - expected).abs_()
    if not math.isfinite(float(difference.max())):  # rare: only then look for the masks
        finite = expected.isfinite()
        if not torch.equal(given.isfinite(), finite):
            return None
        odd = ~finite
        if not torch.equal(expected[odd].nan_to_num(), given[odd].double().nan_to_num()):
            return None
        difference = torch.where(finite, difference, 0.0)
    difference /= slice_scale(expected) if scale is None else scale
    largest = float(difference.max())
    rms = float(difference.norm()) / math.sqrt(expected.numel())
    return Error(largest, rms)


def worst_index(expected: torch.Tensor, given: torch.Tensor) -> list[int]:
    """Where the largest error is."""
    worst = ((given - expected).abs() / slice_scale(expected)).argmax()
    return [int(i) for i in torch.unravel_index(worst, expected.shape)]


def slice_scale(expected: torch.Tensor) -> torch.Tensor:
    """The size that errors are relative to, shaped to divide *expected*."""
    clean = expected.nan_to_num(0.0, 0.0, 0.0)
    whole = clean.norm() / math.sqrt(max(clean.numel(), 1))
    if clean.ndim > 1 and clean.shape[-1] > 1:
        slices = clean.norm(dim=-1, keepdim=True) / math.sqrt(clean.shape[-1])
        whole = torch.maximum(slices, whole * 1e-3)
    return whole.clamp(min=torch.finfo(torch.float64).tiny)


def within(found: Error | None, tolerance: Tolerance) -> bool:
    """Whether an error is within its tolerance; a mask or integer difference never is."""
    if found is None:
        return False
    return found.largest <= tolerance.largest and found.rms <= tolerance.rms
