"""Turn ``--config FILE.yaml --key value`` into dataclasses, and say plainly what is wrong.

One code path serves every stage. The stage's own fields and those of the trainer classes it names
go through TRL's parser, so that any recipe written for TRL reads the same here. That parser alone
ignores unknown keys, checks only strings and answers with tracebacks; this module adds what it
lacks. The file is read here, before any trainer is imported, so that a wrong path is told at once;
``--help`` imports no trainer at all. The parser itself does not import torch, the trainers do.

It does not read environment variables, and TRL's ``env:`` block is an unknown key here: one file is
one run. A dict can be given in the file only, not as a flag.
"""

import argparse
import dataclasses
import difflib
import importlib
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, get_type_hints

from kernelwright.configs.errors import UserError
from kernelwright.configs.help import help_text
from kernelwright.configs.values import default_of, fits, plain, spell

SECRETS = ("token", "api_key")


def parse(schema: type, *trainer: str | type, argv: Sequence[str] | None = None) -> tuple[Any, ...]:
    """One instance of *schema* and of each class in *trainer* from the command line.

    Keys come from the file of ``--config``, then from flags, which win. A class of *trainer* may be
    a dotted name (``"trl.SFTConfig"``), imported only when it is needed. A mistake of the user's
    ends the program with one line and status 2; ``--help`` ends it with status 0.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    prog = _prog()
    if "--help" in given or "-h" in given:
        print(help_text(prog, schema, trainer))
        raise SystemExit(0)
    try:
        path, flags = _split(given)
        values = {} if path is None else read_yaml(path)
        return _build((schema, *map(_load, trainer)), values, flags, str(path))
    except UserError as error:
        print(f"{prog}: error: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def resolved(own: Any, *trainer: Any) -> dict[str, Any]:
    """What a run was made of, as plain values: `parse` reads them back from ``config.yaml``.

    Every field of *own*; of each *trainer* only what differs from its defaults. Access tokens are
    left out.
    """
    found = {field.name: plain(getattr(own, field.name)) for field in dataclasses.fields(own)}
    for each in trainer:
        hints = get_type_hints(type(each))
        for field in dataclasses.fields(each):
            value = plain(getattr(each, field.name)) if field.init else None
            # A class may set fields of its own to things no file can say: they are not settings.
            if value == plain(default_of(field)) or not fits(hints[field.name], value):
                continue
            if not field.name.endswith(SECRETS):
                found[field.name] = value
    return found


def _split(argv: list[str]) -> tuple[Path | None, list[str]]:
    parser = _quiet(argparse.ArgumentParser)(add_help=False, allow_abbrev=False)
    parser.add_argument("--config")
    found, flags = parser.parse_known_args(argv)
    return (None if found.config is None else Path(found.config)), flags


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in file *path*; a `UserError` says what keeps it from being read."""
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"no such config file: {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UserError(f"cannot read config file {path}: {reason}") from None
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UserError(f"{path} is not valid YAML{line}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {_flat(error)}") from None
    if not isinstance(values, dict):
        what = "is empty" if values is None else f"holds a {type(values).__name__}"
        raise UserError(f"{path} {what}; a config is lines of 'key: value'")
    return {str(key): value for key, value in values.items()}


def _build(
    classes: tuple[type, ...], values: dict[str, Any], flags: list[str], path: str
) -> tuple[Any, ...]:
    hints = {key: hint for each in classes for key, hint in get_type_hints(each).items()}
    known = [field.name for each in classes for field in dataclasses.fields(each) if field.init]
    for key in values:
        _refuse_unknown(key, known, f" in {path}")
        if not fits(hints[key], values[key]):
            trap = isinstance(values[key], bool) and fits(hints[key], "")
            cure = " (YAML reads a bare no or off as a boolean: quote it)" if trap else ""
            raise UserError(f"{key} must be {spell(hints[key])}, not {values[key]!r}{cure}")
    for flag in (arg[2:].split("=")[0].replace("-", "_") for arg in flags if arg[:2] == "--"):
        _refuse_unknown(flag.removeprefix("no_") if flag not in known else flag, known, "")

    from trl import TrlParser

    parser = _quiet(TrlParser)(classes, add_help=False, allow_abbrev=False)
    parser.set_defaults_with_config(**values)
    try:
        with warnings.catch_warnings():
            # Its new name is unknown to the older versions of transformers that we allow.
            warnings.filterwarnings("ignore", "`gradient_checkpointing` is deprecated")
            *instances, rest = parser.parse_args_into_dataclasses(
                flags, return_remaining_strings=True, look_for_args_file=False
            )
    except (ValueError, TypeError, ImportError) as error:  # a class's own __post_init__
        raise UserError(_flat(error)) from None
    if rest:
        raise UserError(f"unexpected argument {rest[0]!r}; settings are given as --key value")
    return tuple(instances)


def _refuse_unknown(key: str, known: list[str], place: str) -> None:
    if key not in known:
        close = difflib.get_close_matches(key.replace("-", "_"), known, n=1)
        cure = f"; did you mean {close[0]!r}?" if close else f"{place}; --help lists the keys"
        raise UserError(f"unknown key {key!r}{cure}")


def _quiet(kind: Any) -> Any:
    """*kind*, a parser class, whose errors are raised and do not print a thousand-line usage."""

    def error(_: Any, message: str) -> NoReturn:
        raise UserError(re.sub(r"argument (--\w+)(/--[\w-]+)*", r"\1", message))

    return type(kind.__name__, (kind,), {"error": error})


def _load(trainer: str | type) -> type:
    if isinstance(trainer, type):
        return trainer
    module, _, name = trainer.rpartition(".")
    loaded: type = getattr(importlib.import_module(module), name)
    return loaded


def _prog() -> str:
    spec = sys.modules["__main__"].__spec__
    if Path(sys.argv[0]).name == "__main__.py" and spec is not None:
        return f"python -m {spec.name.removesuffix('.__main__')}"
    return Path(sys.argv[0]).name


def _flat(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
