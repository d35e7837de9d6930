"""Does a value read from YAML suit a field, and how is a field written back as plain data?

TRL's parser converts the strings it finds in a file and lets everything else through unchecked, so
that ``num_generations: 4.5`` would reach the trainer. Covers the types that configuration classes
use: scalars, unions, literals, enums, lists, dicts and nested dataclasses.
"""

import dataclasses
import enum
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

UNIONS = (Union, types.UnionType)


def fits(hint: Any, value: Any) -> bool:
    """Whether *value*, as YAML gives it, may stand for a field annotated *hint*.

    A string may stand for a number it spells: YAML reads ``1e-6`` as a string.
    """
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in UNIONS:
        return any(fits(arg, value) for arg in args)
    if origin is Literal:
        return value in args
    if hint is None or hint is type(None):
        return value is None
    if hint in (int, float):
        return _number(hint, value)
    if dataclasses.is_dataclass(hint):
        return isinstance(value, dict)
    kind = origin or hint
    if not isinstance(kind, type):
        return True
    if issubclass(kind, enum.Enum):
        return value in [member.value for member in kind]
    if kind is list and args:
        return isinstance(value, list) and all(fits(args[0], item) for item in value)
    return isinstance(value, kind)


def _number(kind: type[int] | type[float], value: Any) -> bool:
    if isinstance(value, str):
        try:
            kind(value)
        except ValueError:
            return False
        return True
    return isinstance(value, int if kind is int else (int, float)) and not isinstance(value, bool)


def spell(hint: Any) -> str:
    """*hint* as a person would say it: ``int``, ``list[str] or None``, ``one of ieee, tf32``."""
    if get_origin(hint) in UNIONS:
        return " or ".join(dict.fromkeys(spell(arg) for arg in get_args(hint)))
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if hint is type(None):
        return "None"
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return "one of " + ", ".join(str(member.value) for member in hint)
    if get_origin(hint) is None and isinstance(hint, type):
        return hint.__name__
    return str(hint).replace("typing.", "")


def plain(value: Any) -> Any:
    """*value* as YAML can hold it: enums by value, dataclasses as dicts, the rest as text."""
    if isinstance(value, enum.Enum):
        return value.value
    if value is None or type(value) in (bool, int, float, str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Path | str):
        return str(value)
    return repr(value)


def default_of(field: "dataclasses.Field[Any]") -> Any:
    """The default of *field*; ``dataclasses.MISSING`` where it is required."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default
