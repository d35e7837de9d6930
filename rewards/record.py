"""Frozen dataclasses as one line of JSON, and back.

Covers nested dataclasses, tuples, dicts with string keys, enums, paths given as strings and
optional fields: what the nouns of this package are made of. It does not cover arbitrary objects,
and never runs code.
"""

import dataclasses
import enum
import json
import types
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_line(record: Any) -> str:
    """*record*, a dataclass instance, as one line of JSON. NaN and infinity are refused."""
    return json.dumps(to_plain(record), allow_nan=False, ensure_ascii=False)


def to_plain(record: Any) -> dict[str, Any]:
    """*record* as plain dicts, lists and scalars."""
    return dataclasses.asdict(record)


def from_line(kind: type[T], line: str) -> T:
    """The instance of dataclass *kind* that `to_line` wrote as *line*.

    Raises ``ValueError`` naming an unknown key, ``TypeError`` for a missing one.
    """
    return from_plain(kind, json.loads(line))


def from_plain(kind: type[T], plain: dict[str, Any]) -> T:
    """The instance of dataclass *kind* that `to_plain` gave as *plain*."""
    hints = get_type_hints(kind)
    if unknown := sorted(set(plain) - set(hints)):
        raise ValueError(f"{kind.__name__} has no field {unknown[0]!r}; fields: {', '.join(hints)}")
    return kind(**{key: _restore(hints[key], value) for key, value in plain.items()})


def _restore(hint: Any, value: Any) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        return _restore(next(arg for arg in args if arg is not type(None)), value)
    if dataclasses.is_dataclass(hint):
        return from_plain(hint, value)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, (enum.Enum, Path)):
        return hint(value)
    if origin is tuple:
        kinds = [args[0]] * len(value) if len(args) == 2 and args[1] is ... else list(args)
        return tuple(_restore(kind, item) for kind, item in zip(kinds, value, strict=True))
    if origin is dict:
        return {key: _restore(args[1], item) for key, item in value.items()}
    return value
