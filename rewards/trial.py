"""One forward call inside the worker: inputs in, outputs out, with what can be observed there.

The dispatcher trace and the knock-out are taken in the untrusted process. A forbidden operator seen
is evidence; a clean trace proves nothing. Uninitialised memory that torch hands out is filled with
NaN during trials, so that an element never written shows.
"""

import os
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from kernelwright.rewards import blob

SENTINEL = 12345.0


class OutputError(TypeError):
    """The output is not made of plain tensors."""


class Mode(TorchDispatchMode):
    """A dispatch mode that does not import the compiler on first use (three seconds)."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class Trace(Mode):
    """Names of the operators that reach the dispatcher on this thread."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.add(func.name().removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


class Knock:
    """Overwrites what the binding's functions returned or wrote, when armed."""

    def __init__(self) -> None:
        self.armed = False
        self.calls = 0

    def wrap(self, module: Any) -> Any:
        """*module* with each function watched."""
        names = [name for name in dir(module) if not name.startswith("__")]
        return SimpleNamespace(**{name: self._watched(getattr(module, name)) for name in names})

    def _watched(self, function: Any) -> Any:
        if not callable(function):
            return function

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if not self.armed:
                return function(*args, **kwargs)
            given = blob.tensors_in([args, kwargs])
            before = [tensor.clone() for tensor in given]
            result = function(*args, **kwargs)
            for tensor, old in zip(given, before, strict=True):
                if not same_bits(tensor, old):
                    _overwrite(tensor)
            for tensor in blob.tensors_in(result):
                _overwrite(tensor)
            return SENTINEL if isinstance(result, float) else result

        return call


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of one shape hold the same values, NaN equal to NaN."""
    if one.is_floating_point():
        return bool(((one == other) | (one.isnan() & other.isnan())).all())
    return bool((one == other).all())


def _overwrite(tensor: torch.Tensor) -> None:
    tensor.fill_(True if tensor.dtype is torch.bool else SENTINEL)


def run(model: Any, inputs_fd: int, outputs_fd: int, knock: Knock | None) -> dict[str, Any]:
    """Call *model* once; write the outputs and say which operators were seen.

    *knock* given: its functions' results are overwritten during this call.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for what is ours: other checks run beside this one
    inputs = load_set(model, inputs_fd)
    before = blob.map_tensors(inputs, torch.clone)
    trace = Trace()
    torch.set_num_threads(threads)
    # NaN into uninitialised memory. (The public function imports the compiler: five seconds.)
    torch._C._set_deterministic_algorithms(True, warn_only=True)
    if knock:
        knock.armed = True
    try:
        with torch.no_grad(), trace:
            output = model(*inputs)
    finally:
        torch._C._set_deterministic_algorithms(False)
        torch.set_num_threads(1)
        if knock:
            knock.armed = False
    buffers = dict(model.named_buffers()) if model.training else {}
    pairs = zip(blob.tensors_in(inputs), blob.tensors_in(before), strict=True)
    mutated = [index for index, (now, old) in enumerate(pairs) if not same_bits(now, old)]
    write(outputs_fd, {"output": output, "buffers": buffers})
    torch.set_num_threads(threads)
    return {"operators": sorted(trace.names)[:200], "mutated": mutated}


def load_set(model: Any, fd: int) -> list[Any]:
    """The inputs behind *fd*; its parameters go into *model* strictly, where it has any."""
    package = blob.parse(os.pread(fd, os.fstat(fd).st_size, 0))
    if package["state"] is not None:
        model.load_state_dict(package["state"], strict=True)
    inputs: list[Any] = package["inputs"]
    return inputs


def write(fd: int, output: Any) -> None:
    """Write nested plain tensors to *fd* from its start. `OutputError` for anything else."""
    _check(output)
    data = blob.dump(output)
    os.ftruncate(fd, 0)
    view = memoryview(data)
    offset = 0
    while offset < len(view):
        offset += os.pwrite(fd, view[offset:], offset)


def _check(output: Any) -> None:
    if isinstance(output, torch.Tensor) and type(output) is not torch.Tensor:
        raise OutputError(f"forward returned a {type(output).__name__}, not a torch.Tensor")
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (list, tuple)):
        for item in output:
            _check(item)
