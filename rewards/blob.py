"""Nested values with tensors as bytes of a fixed layout, safe to read from an untrusted process.

The layout is a safetensors file whose metadata holds the nesting as JSON: lists, tuples, dicts with
string keys, scalars, None, dtypes, and tensors by number with their strides. No pickle, no code. It
does not cover other objects: `dump` refuses them with ``TypeError``.
"""

import json
from typing import Any

import torch
from safetensors.torch import load as _load
from safetensors.torch import save as _save

_SCALARS = (bool, int, float, str, type(None))


def dump(value: Any) -> bytes:
    """*value* as bytes."""
    tensors: dict[str, torch.Tensor] = {}
    structure = _flatten(value, tensors)
    return bytes(_save(tensors, metadata={"structure": json.dumps(structure)}))


def parse(data: bytes) -> Any:
    """The value that `dump` wrote. ``ValueError`` for anything else."""
    try:
        tensors = _load(data)
        size = int.from_bytes(data[:8], "little")
        structure = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["structure"])
        return _restore(structure, tensors)
    except (ValueError, KeyError, TypeError, IndexError, RuntimeError, AttributeError) as error:
        raise ValueError(f"not a blob: {error}") from error
    except Exception as error:  # safetensors raises its own class, derived from Exception only
        if type(error).__name__ != "SafetensorError":
            raise
        raise ValueError(f"not a blob: {error}") from error


def tensors_in(value: Any) -> list[torch.Tensor]:
    """All tensors of a nested value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [tensor for item in value.values() for tensor in tensors_in(item)]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []


def map_tensors(value: Any, change: Any) -> Any:
    """A copy of a nested value with *change* applied to each tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: map_tensors(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(item, change) for item in value)
    return value


def _flatten(value: Any, tensors: dict[str, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        key = str(len(tensors))
        tensors[key] = value.detach().to("cpu", copy=True).contiguous()
        entry: dict[str, Any] = {"t": "tensor", "k": key}
        if not value.is_contiguous() and value.numel() > 0 and 0 not in value.stride():
            entry["stride"] = list(value.stride())
        return entry
    if isinstance(value, torch.dtype):
        return {"t": "dtype", "v": str(value).removeprefix("torch.")}
    if isinstance(value, _SCALARS):
        return {"t": "scalar", "v": value}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"t": kind, "v": [_flatten(item, tensors) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"t": "dict", "v": {key: _flatten(item, tensors) for key, item in value.items()}}
    raise TypeError(f"cannot carry a {type(value).__name__}")


def _restore(entry: Any, tensors: dict[str, torch.Tensor]) -> Any:
    kind = entry["t"]
    if kind == "tensor":
        tensor = tensors[entry["k"]]
        if "stride" in entry:
            strided = torch.empty_strided(tensor.shape, entry["stride"], dtype=tensor.dtype)
            return strided.copy_(tensor)
        return tensor
    if kind == "dtype":
        return getattr(torch, entry["v"])
    if kind == "scalar":
        return entry["v"]
    if kind == "dict":
        return {key: _restore(item, tensors) for key, item in entry["v"].items()}
    items = [_restore(item, tensors) for item in entry["v"]]
    return tuple(items) if kind == "tuple" else items
