"""``--help`` of a stage: its own fields, and the names of the trainer classes it also accepts.

The hundreds of fields of a trainer are documented by its own project and would take seconds to
import; here they are named only.
"""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any, get_type_hints

from kernelwright.configs.values import default_of, plain, spell


def help_text(prog: str, schema: type, trainers: Sequence[str | type]) -> str:
    """What ``prog --help`` prints for the fields of *schema*."""
    names = [each if isinstance(each, str) else each.__name__ for each in trainers]
    hints = get_type_hints(schema)
    parser = argparse.ArgumentParser(
        prog=prog,
        usage="%(prog)s --config FILE.yaml [--key value ...]",
        description=(schema.__doc__ or "").strip().replace("%", "%%"),
        epilog=f"Also every field of {', '.join(names)}." if names else None,
    )
    parser.add_argument("--config", metavar="FILE", help="YAML file of these keys; flags win")
    for field in dataclasses.fields(schema):
        default = default_of(field)
        tail = "required" if default is dataclasses.MISSING else f"default: {_shown(default)}"
        text = f"{field.metadata.get('help', '')} ({tail})".strip().replace("%", "%%")
        kind = spell(hints[field.name])
        parser.add_argument(f"--{field.name}", metavar=kind, help=text)
    return parser.format_help().rstrip()


def _shown(default: Any) -> str:
    if default in ("", [], {}):
        return "none"
    if isinstance(default, list):
        return " ".join(str(plain(each)) for each in default)
    return str(plain(default))
