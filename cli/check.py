"""Parse the config of every stage of a recipe before the first one runs.

A misspelt key in the last stage should cost seconds, not the hour before it. The trainers that
parsing imports hold much memory, so `settings` does it in a process that ends. It checks keys and
types; whether the files that a config names exist is seen when its stage starts.
"""

import dataclasses
import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from kernelwright.cli.commands import find
from kernelwright.cli.recipe import Stage
from kernelwright.configs import parse
from kernelwright.configs.values import plain


def settings(stages: list[Stage], run: Path) -> dict[str, dict[str, Any]]:
    """Every setting of each stage, defaults included, by stage name.

    The user's mistake has been told in one line when this ends the program with status 2.
    """
    lines = [(each.name, each.command_line(run, resume=False)) for each in stages if each.config]
    if not lines:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "settings.json"
        command = [sys.executable, "-m", "kernelwright.cli.check", str(found), json.dumps(lines)]
        status = subprocess.run(command, check=False).returncode
        if status:
            raise SystemExit(status)
        return dict(json.loads(found.read_text(encoding="utf-8")))


def parsed(line: list[str]) -> tuple[Any, ...]:
    """The instances that the stage started as ``kernelwright`` *line* would work with."""
    command = find(line[0])
    if command is None or not command.schema:
        raise ValueError(f"{line[0]} is no command with a config")
    module, _, name = command.schema.rpartition(".")
    schema = getattr(importlib.import_module(module), name)
    return parse(schema, *command.trainers, argv=line[1:])


def main(argv: list[str]) -> int:
    """Parse the stages in the JSON text *argv[1]*; their settings go to the file *argv[0]*."""
    found = {}
    for name, line in json.loads(argv[1]):
        sys.argv[0] = f"kernelwright: stage {name}"  # where parse says that an error is
        fields = [
            (field.name, plain(getattr(each, field.name)))
            for each in parsed(line)
            for field in dataclasses.fields(each)
        ]
        found[name] = dict(fields)
    Path(argv[0]).write_text(json.dumps(found, default=str), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
