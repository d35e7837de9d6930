"""The proof that a task can be judged, and how near to its fp64 oracle an honest kernel comes.

For each trial: the fp64 oracle; the errors of named honest implementations against it (eager, eager
on one thread without oneDNN, eager with each intermediate moved by up to one ulp, and the oracle on
inputs moved by one ulp); a tolerance of κ times the worst of them, floored by the rounding of a sum
as long as the task's longest; and the check that null answers (zeros, the input, a constant, the
oracle shuffled, another trial's oracle) fail it. A variant on which one passes is dropped; a task
with no plain variant left is invalid.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch

from kernelwright.rewards import blob, null_answers
from kernelwright.rewards.compare import Error, Tolerance, error, slice_scale, within
from kernelwright.rewards.plumbing import compute_names
from kernelwright.rewards.reference import (
    FlopCount,
    Invalid,
    Jitter,
    Reference,
    call,
    call_fp64,
    operators,
    ulp_jitter,
)
from kernelwright.rewards.variants import TIMED, VARIANTS, Variant, apply, perturb

KAPPA = 4.0  # ours: the design names κ, not its value; 4 covers max-error scatter between seeds
_UNSTABLE = 0.05  # an honest error beyond this share of the slice says nothing about a candidate


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the judge may know of a certified task; the oracle keeps the tensors."""

    digest: str
    trials: tuple[str, ...]
    """Variant names in trial order; the first ones are timed."""
    dropped: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    """What the reference dispatches: never plumbing for this task."""
    seed: int = 0
    invalid: str = ""
    """Why the task cannot be judged; empty where it can."""
    held_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial with everything secret in it; lives in the oracle only."""

    variant: str
    inputs: list[Any]
    state: dict[str, torch.Tensor]
    expected: Any
    dtypes: list[str]
    tolerances: list[Tolerance]


def certify(reference: Reference, seed: int) -> tuple[list[Trial], list[str], set[str]]:
    """Trials, names of dropped variants, and the reference's operators. Raises `Invalid`."""
    model, inputs = reference.model(seed), reference.inputs(seed)
    try:
        names = operators(model, inputs)
    except Exception as failure:
        raise Invalid(f"forward: {type(failure).__name__}: {failure}") from failure
    if not compute_names(names):
        raise Invalid("no_compute: the reference only moves data; there is no kernel to write")
    trials: list[Trial] = []
    dropped: list[str] = []
    for index, variant in enumerate(VARIANTS):
        made = _trial(reference, variant, seed + index, seed, trials)
        if isinstance(made, str):
            dropped.append(f"{variant.name}: {made}")
        else:
            trials.append(made)
    if sum(trial.variant == "plain" for trial in trials) < TIMED:
        why = next((each for each in dropped if each.startswith("plain")), "no plain variant")
        raise Invalid(why.removeprefix("plain: "))
    return trials, dropped, names


def _trial(
    reference: Reference, variant: Variant, seed: int, weights: int, before: list[Trial]
) -> Trial | str:
    inputs = apply(variant, reference.inputs(seed), reference.task.domains)
    if inputs is None:
        return "outside the domain"
    model = reference.model(weights)
    if variant.perturbed:
        perturb(model, seed)
    state = blob.map_tensors(dict(model.state_dict()), torch.clone)
    try:
        eager = call(_loaded(model, state), blob.map_tensors(inputs, torch.clone))
    except Exception as failure:
        raise Invalid(f"forward: {type(failure).__name__}: {failure}") from failure
    if not blob.tensors_in(eager["output"]):
        raise Invalid("no_output: forward returns no tensor")
    try:
        expected = call_fp64(_loaded(model, state), inputs)
    except Exception as failure:
        raise Invalid(f"no_fp64_oracle: {type(failure).__name__}: {failure}") from failure
    floor = _rounding(model, inputs, expected)
    if variant.name == "plain" and not before:
        _refuse_stochastic(model, state, inputs, eager, floor)
    if variant.name == "plain" and before:
        # The same distribution and parameters: the first draw's honest set speaks for the others.
        tolerances = before[0].tolerances
        pairs = zip(_errors(expected, eager), tolerances, strict=True)
        if not all(within(found, bound) for found, bound in pairs):
            return "unstable: eager's error differs between two draws of the same inputs"
    else:
        made = _tolerances(_honest_errors(model, state, inputs, eager, expected, seed), floor)
        if isinstance(made, str):
            return made
        tolerances = made
    if null := null_answers.passing(
        expected, inputs, tolerances, before[0].expected if before else None
    ):
        return f"null_answer: {null} passes"
    dtypes = [str(tensor.dtype) for tensor in blob.tensors_in(eager)]
    return Trial(variant.name, inputs, state, expected, dtypes, tolerances)


def _tolerances(honest: list[list[Error] | None], floor: float) -> list[Tolerance] | str:
    """κ times the worst honest error of each output, or why there is none."""
    if any(each is None for each in honest):
        return "unstable: honest implementations differ in non-finite or integer values"
    found = [each for each in honest if each is not None]
    tolerances = []
    for position in range(len(found[0])):
        largest = max(each[position].largest for each in found)
        rms = max(each[position].rms for each in found)
        if largest > _UNSTABLE:
            return "unstable: honest implementations differ by more than 5 % of the output"
        tolerances.append(Tolerance(KAPPA * max(largest, floor), KAPPA * max(rms, floor / 2)))
    return tolerances


def _loaded(model: torch.nn.Module, state: dict[str, torch.Tensor]) -> torch.nn.Module:
    model.load_state_dict(blob.map_tensors(state, torch.clone))
    return model


def _refuse_stochastic(
    model: torch.nn.Module, state: dict[str, Any], inputs: list[Any], eager: Any, floor: float
) -> None:
    torch.manual_seed(torch.initial_seed() + 1)
    again = call(_loaded(model, state), blob.map_tensors(inputs, torch.clone))
    errors = _errors(blob.map_tensors(eager, _wide), again)
    bound = Tolerance(100 * floor, 100 * floor)
    if not all(within(each, bound) for each in errors):
        raise Invalid("stochastic: two runs on the same input differ")


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor


def _errors(expected: Any, given: Any) -> list[Error | None]:
    pairs = zip(blob.tensors_in(expected), blob.tensors_in(given), strict=True)
    return [error(one, other) for one, other in pairs]


def _scales(expected: Any) -> list[torch.Tensor | None]:
    return [slice_scale(t) if t.is_floating_point() else None for t in blob.tensors_in(expected)]


def _honest_errors(
    model: torch.nn.Module,
    state: dict[str, Any],
    inputs: list[Any],
    eager: Any,
    expected: Any,
    seed: int,
) -> list[list[Error] | None]:
    """Each honest implementation's errors by output; None where masks or integers differ."""

    def fresh() -> list[Any]:
        copied: list[Any] = blob.map_tensors(inputs, torch.clone)
        return copied

    runs = [eager]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        torch._C._set_mkldnn_enabled(False)  # the public context manager also touches TF32
        runs.append(call(_loaded(model, state), fresh()))
    finally:
        torch._C._set_mkldnn_enabled(True)
        torch.set_num_threads(threads)
    for step in range(2):
        with Jitter(seed + step):
            runs.append(call(_loaded(model, state), fresh()))
    for step in range(2):
        generator = torch.Generator().manual_seed(seed + step)
        moved = blob.map_tensors(inputs, lambda x, g=generator: ulp_jitter(x, g))
        runs.append(call_fp64(_loaded(model, state), moved))
    outputs, scales = blob.tensors_in(expected), _scales(expected)
    found: list[list[Error] | None] = []
    for run in runs:
        errors = [error(*each) for each in zip(outputs, blob.tensors_in(run), scales, strict=True)]
        clean = [each for each in errors if each is not None]
        found.append(clean if len(clean) == len(errors) else None)
    return found


def _rounding(model: torch.nn.Module, inputs: list[Any], expected: Any) -> float:
    """Relative rounding of an fp32 sum of random terms, as long as the task's longest sum.

    The length is bounded from above by the largest dimension, the inputs an output element can see,
    and the multiply-adds spent on one. A walk of n roundings of half an ulp grows as √n.
    """
    with FlopCount() as counter, torch.no_grad():
        model(*blob.map_tensors(inputs, torch.clone))
    outputs = max(sum(t.numel() for t in blob.tensors_in(expected["output"])), 1)
    tensors = [*blob.tensors_in(inputs), *model.parameters()]
    seen = sum(tensor.numel() for tensor in blob.tensors_in(inputs)) / outputs
    widest = max((size for tensor in tensors for size in tensor.shape), default=1)
    length = max(seen, widest, counter.total / 2 / outputs, 1)
    floats = [t.dtype for t in blob.tensors_in(inputs) if t.is_floating_point()]
    eps = max((torch.finfo(dtype).eps for dtype in floats), default=torch.finfo(torch.float32).eps)
    return 0.5 * eps * math.sqrt(length)
