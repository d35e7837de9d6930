"""A task's reference, run by trusted processes only: its inputs, its outputs, its operators.

The reference is the user's own code and runs unconfined, as it would in any of their scripts. Every
draw is seeded. `Invalid` says why a reference cannot be judged.
"""

import linecache
import types
from typing import Any

import torch

from kernelwright.rewards import blob
from kernelwright.rewards.task import Task
from kernelwright.rewards.trial import Mode, Trace

_NARROW = (torch.float32, torch.float16, torch.bfloat16)


class Invalid(Exception):
    """The task cannot be judged; the text is a short stable detail, then the reason."""


class Reference:
    """One loaded reference module."""

    def __init__(self, task: Task) -> None:
        self.task = task
        module = types.ModuleType("kernelwright_reference")
        name = f"<task {task.id}>"
        linecache.cache[name] = (len(task.source), None, task.source.splitlines(True), name)
        try:
            exec(compile(task.source, name, "exec"), module.__dict__)
        except Exception as error:
            raise Invalid(f"import: {type(error).__name__}: {error}") from error
        for wanted in ("Model", "get_inputs"):
            if not hasattr(module, wanted):
                raise Invalid(f"lacks_{wanted}: the task's module does not define {wanted}")
        self._module = module

    def init_arguments(self) -> list[Any]:
        """What ``get_init_inputs`` gives, or nothing where it is not defined."""
        get = getattr(self._module, "get_init_inputs", list)
        arguments = list(get())
        try:
            blob.dump(arguments)
        except TypeError as error:
            raise Invalid(f"init_arguments: {error}") from error
        return arguments

    def inputs(self, seed: int) -> list[Any]:
        """What ``get_inputs`` gives under *seed*."""
        torch.manual_seed(seed)
        try:
            drawn = list(self._module.get_inputs())
        except Exception as error:
            raise Invalid(f"get_inputs: {type(error).__name__}: {error}") from error
        if not blob.tensors_in(drawn):
            raise Invalid("no_tensor_input: get_inputs gives no tensor")
        return drawn

    def model(self, seed: int) -> torch.nn.Module:
        """``Model(*init)`` with parameters drawn under *seed*, in the task's mode."""
        torch.manual_seed(seed)
        try:
            model: torch.nn.Module = self._module.Model(*self.init_arguments())
        except Invalid:
            raise
        except Exception as error:
            raise Invalid(f"init: {type(error).__name__}: {error}") from error
        return model.train(self.task.mode == "train")


class Promote(Mode):
    """Turns casts and factories to narrow floats into float64, so that an oracle stays one."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if _is_narrow(kwargs.get("dtype")):
            kwargs["dtype"] = torch.float64
        wide = [torch.float64 if _is_narrow(arg) else arg for arg in args]
        return func(*wide, **kwargs)


def _is_narrow(value: Any) -> bool:
    return isinstance(value, torch.dtype) and value in _NARROW


class Jitter(Mode):
    """Moves each floating result by up to one unit in the last place: another honest rounding."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.dtype in _NARROW and not func.is_view:
            if func.name().endswith("_") or "out" in (kwargs or {}):
                return result
            return ulp_jitter(result, self._generator)
        return result


class FlopCount(Mode):
    """Adds up the multiply-adds of matrix products and convolutions, twice each."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from torch.utils.flop_counter import flop_registry

        result = func(*args, **(kwargs or {}))
        if count := flop_registry.get(func.overloadpacket):
            self.total += count(*args, **(kwargs or {}), out_val=result)
        return result


def ulp_jitter(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """*tensor* with each element moved by −1, 0 or 1 unit in the last place of its type."""
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return tensor
    steps = torch.empty(tensor.shape, dtype=torch.int8).random_(-1, 2, generator=generator)
    eps = torch.finfo(tensor.dtype).eps
    return tensor * steps.to(tensor.dtype).mul_(eps).add_(1)  # an infinity stays one


def call(model: torch.nn.Module, inputs: list[Any]) -> Any:
    """The outputs of one forward call, with updated buffers where the mode is train."""
    with torch.no_grad():
        output = model(*inputs)
    buffers = dict(model.named_buffers()) if model.training else {}
    result = blob.map_tensors({"output": output, "buffers": buffers}, torch.clone)
    return result


def call_fp64(model: torch.nn.Module, inputs: list[Any]) -> Any:
    """The same in float64: parameters, inputs, casts and factories."""
    import copy

    wide = copy.deepcopy(model).double()
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with Promote():
            return call(wide, blob.map_tensors(inputs, _widened))
    finally:
        torch.set_default_dtype(before)


def _widened(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.dtype in _NARROW else tensor.clone()


def operators(model: torch.nn.Module, inputs: list[Any]) -> set[str]:
    """Names of the operators that the reference itself dispatches."""
    trace = Trace()
    with torch.no_grad(), trace:
        model(*inputs)
    return trace.names
