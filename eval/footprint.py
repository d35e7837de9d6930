"""How big a task is, found on torch's meta device: shapes and operators are real, data is not.

Each task is measured in a process of its own with a time limit, since references are other people's
code. Sizes are exact. FLOPs are torch's own formulas for matmul, convolution and attention, and one
per element for everything else. Where forward asks for values (``.item()``, ``nonzero``), sizes of
inputs and parameters are still known, and what is not says why.
"""

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from kernelwright.rewards.task import Task

PRELOADED = ["torch._dynamo", "torch._refs", "torch.utils.flop_counter", __name__]


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one forward call of a reference holds and does."""

    input_bytes: int = 0
    output_bytes: int = 0
    parameter_bytes: int = 0
    """Parameters and buffers."""
    operator_bytes: int = 0
    """The most that one operator reads and writes: a lower bound of the working memory."""
    flops: int = 0
    shapes: tuple[tuple[int, ...], ...] = ()
    """Of the input tensors."""
    failure: str = ""
    """Where it was not measured: the step, then the error. What was measured before it counts."""


def measure(task: Task, timeout_s: float = 120.0) -> Footprint:
    """The footprint of *task*, from a process of its own."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(task.source, task.mode, sender), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(timeout_s):
            return Footprint(failure=f"timeout: not measured in {timeout_s:.0f} s")
        found: Footprint = receiver.recv()
        return found
    except EOFError:
        return Footprint(failure="crash: the process died")
    finally:
        receiver.close()
        process.kill()
        process.join()


def measure_all(
    tasks: Iterable[Task], workers: int = 2, timeout_s: float = 120.0
) -> Iterator[Footprint]:
    """`measure` of each of *tasks* in order, *workers* at a time."""
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(lambda task: measure(task, timeout_s), tasks)


def _report(source: str, mode: str, sender: Any) -> None:
    import os

    import torch

    with open(os.devnull, "w") as silence:  # references print
        os.dup2(silence.fileno(), 1)
        os.dup2(silence.fileno(), 2)
    step, known = "import", {}
    try:
        with torch.device("meta"), torch.no_grad():
            namespace: dict[str, Any] = {"__name__": "kernelwright_reference"}
            exec(compile(source, "<task>", "exec"), namespace)
            step = "init"
            arguments = namespace.get("get_init_inputs", list)()
            model = _model(namespace["Model"], arguments).train(mode == "train")
            state = [*model.parameters(), *model.buffers()]
            known["parameter_bytes"] = sum(tensor.nbytes for tensor in state)
            step = "get_inputs"
            inputs = list(namespace["get_inputs"]())
            tensors = list(_tensors(inputs))
            known["input_bytes"] = sum(tensor.nbytes for tensor in tensors)
            known["shapes"] = tuple(tuple(tensor.shape) for tensor in tensors)
            step = "forward"
            with counter() as count:
                output = model.to("meta")(*_moved(inputs))
            known["output_bytes"] = sum(tensor.nbytes for tensor in _tensors(output))
            known |= {"operator_bytes": count.largest, "flops": count.flops}
        sender.send(Footprint(**known))
    except Exception as error:
        text = str(error).splitlines()[0][:120] if str(error) else ""
        sender.send(Footprint(**known, failure=f"{step}: {type(error).__name__}: {text}"))


def _model(kind: Any, arguments: list[Any]) -> Any:
    """``Model(*init)``; on the CPU where its ``__init__`` asks for values."""
    import torch

    try:
        return kind(*arguments)
    except (RuntimeError, NotImplementedError) as error:
        if "meta" not in str(error):
            raise
        with torch.device("cpu"):
            return kind(*arguments)


def counter() -> Any:
    """A dispatch mode that adds up ``flops`` and keeps the ``largest`` operator's bytes.

    A call that it has seen is answered from memory: recurrent networks repeat some tens of
    thousands, and a meta kernel costs a millisecond.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry

    class Counter(TorchDispatchMode):
        flops, largest = 0, 0

        def __init__(self) -> None:
            super().__init__()
            self._seen: dict[Any, tuple[int, torch.Tensor]] = {}

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = kwargs or {}
            if func.is_view:
                return func(*args, **given)
            key = (func, _key(args), _key(given))
            if key in self._seen:
                flops, like = self._seen[key]
                self.flops += flops
                return torch.empty_strided(
                    like.shape, like.stride(), dtype=like.dtype, device="meta"
                )
            result = func(*args, **given)
            touched = {id(tensor): tensor for tensor in _tensors([result, args])}.values()
            formula = flop_registry.get(func._overloadpacket)
            flops = (
                max((tensor.numel() for tensor in touched), default=0)
                if formula is None
                else int(formula(*args, **given, out_val=result))
            )
            self.flops += flops
            self.largest = max(self.largest, sum(tensor.nbytes for tensor in touched))
            plain = isinstance(result, torch.Tensor) and not func._schema.is_mutable
            if plain and result.is_meta:  # elsewhere a result has values
                self._seen[key] = (flops, result)
            return result

    return Counter()


def _key(value: Any) -> Any:
    """What tells two calls' results apart on the meta device."""
    import torch

    if isinstance(value, torch.Tensor):
        return (value.shape, value.stride(), value.dtype, value.device)
    if isinstance(value, dict):
        return tuple((name, _key(item)) for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_key(item) for item in value)
    return (type(value), value)


def _tensors(value: Any) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _moved(value: Any) -> Any:
    """*value* with every tensor on meta: some were made from lists or numpy, which ignore it."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.to("meta")
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(item) for item in value)
    return value
