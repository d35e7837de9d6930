"""Value variants of a task's inputs: what a shortcut tuned to one distribution gets wrong.

Each variant keeps shape, type and the declared domain of every input. Integer and boolean inputs
are redrawn by the task's own ``get_inputs`` under another seed and never scaled. Parameters are
perturbed in the variants that say so, since default weights (ones, zeros) hide missing terms.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

Change = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Variant:
    """A named change of values; None for a domain says that it would leave it."""

    name: str
    real: Change
    positive: Change | None = None
    unit: Change | None = None
    perturbed: bool = False
    """Parameters are moved off their initial values."""


def _same(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _half_cancelling(tensor: torch.Tensor) -> torch.Tensor:
    """Large values of alternating sign around small ones, so that sums cancel."""
    if tensor.ndim == 0:
        return tensor
    signs = torch.ones(tensor.shape[-1], dtype=tensor.dtype)
    signs[1::2] = -1
    return tensor * 0.5 + 8 * signs


# Three plain draws come first: they have the scored shape and distribution, and serve for timing.
VARIANTS = (
    Variant("plain", _same, _same, _same),
    Variant("plain", _same, _same, _same),
    Variant("plain", _same, _same, _same),
    Variant("scaled", lambda x: x * 16, lambda x: x * 16, None, perturbed=True),
    Variant("negated", lambda x: -x - 0.5, None, lambda x: 1 - x, perturbed=True),
    Variant("cancelling", _half_cancelling, lambda x: x + 4, lambda x: x * x, perturbed=True),
    Variant("integers", lambda x: (x * 2).round(), lambda x: (x * 2).round() + 1, None),
)
TIMED = 3


def apply(variant: Variant, inputs: list[object], domains: dict[str, str]) -> list[object] | None:
    """*inputs* changed by *variant*, or None where it leaves the domain of every input."""
    changed: list[object] = []
    touched = variant.name == "plain" or variant.perturbed
    for index, value in enumerate(inputs):
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            changed.append(value)
            continue
        change = getattr(variant, domains.get(str(index), "real"), None)
        touched = touched or change is not None
        changed.append(value if change is None else change(value).to(value.dtype))
    return changed if touched else None


def perturb(model: torch.nn.Module, seed: int) -> None:
    """Move every floating parameter and buffer of *model* off its initial value, in place."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in (*model.named_parameters(), *model.named_buffers()):
            if not value.is_floating_point():
                continue
            noise = torch.rand(value.shape, generator=generator, dtype=torch.float32)
            if "var" in name:  # variances stay positive
                value.copy_((value.abs() + 0.1) * (0.5 + noise))
            else:
                spread = float(value.std()) if value.numel() > 1 else 0.0
                value.add_((noise - 0.5).to(value.dtype) * 2 * max(spread, 0.25 * _scale(value)))


def _scale(value: torch.Tensor) -> float:
    return max(float(value.abs().mean()), 0.1)
