"""A recipe: a folder with ``pipeline.yaml``, the ordered stages, and one config file for each.

Reads and checks; runs nothing. What the keys of a stage's config mean is the stage's business.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from kernelwright.cli.commands import COMMANDS
from kernelwright.configs import read_yaml
from kernelwright.configs.errors import UserError

PIPELINE = "pipeline.yaml"


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a recipe."""

    name: str
    """Also the name of its folder in the run."""
    command: str
    config: Path | None = None
    """None for a command that takes arguments only, such as ``report``."""
    overrides: dict[str, Any] = field(default_factory=dict)
    """Flags on top of the file; ``{run}`` stands for the folder of the run."""
    arguments: tuple[str, ...] = ()

    def settings(self) -> dict[str, Any]:
        """The keys of the config file, overridden."""
        return (read_yaml(self.config) if self.config else {}) | self.overrides

    def digest(self) -> str:
        """Content hash of everything that the recipe says about this stage."""
        said = (self.command, self.settings(), self.arguments)
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()

    def command_line(self, run: Path, resume: bool) -> list[str]:
        """What follows ``kernelwright`` to run this stage into *run*."""
        line = [self.command, *(_at(run, each) for each in self.arguments)]
        if self.config is None:
            return line
        line += ["--config", str(self.config), "--output_dir", str(run / self.name)]
        for key, value in self.overrides.items():
            listed = value if isinstance(value, list) else [value]
            line += [f"--{key}", *(_at(run, each) for each in listed)]
        return [*line, "--resume", "true"] if resume else line


def read_recipe(folder: Path) -> list[Stage]:
    """The stages of the recipe in *folder*; a shipped recipe is also found by its name."""
    if not (folder / PIPELINE).is_file():
        folder = _shipped(folder)
    file = folder / PIPELINE
    entries = read_yaml(file).get("stages")
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise UserError(f"{file}: 'stages' must be a list of stages, each with name and command")
    stages = [_stage(file, each) for each in entries]
    names = [each.name for each in stages]
    if twice := {name for name in names if names.count(name) > 1}:
        raise UserError(f"{file}: two stages are called {min(twice)!r}")
    return stages


def _stage(file: Path, entry: dict[str, Any]) -> Stage:
    known = [each.name for each in dataclasses.fields(Stage)]
    if unknown := [key for key in entry if key not in known]:
        raise UserError(f"{file}: unknown key {unknown[0]!r}; a stage has {', '.join(known)}")
    for key in ("name", "command"):
        if not isinstance(entry.get(key), str):
            raise UserError(f"{file}: a stage has no {key!r}: {entry}")
    commands = {each.name: each for each in COMMANDS if each.name != "run"}
    if entry["command"] not in commands:
        raise UserError(f"{file}: no command {entry['command']!r}; use {', '.join(commands)}")
    config = file.parent / entry["config"] if entry.get("config") else None
    if (config is None) == bool(commands[entry["command"]].schema):
        wants = "needs a" if config is None else "takes no"
        raise UserError(f"{file}: stage {entry['name']!r}: {entry['command']} {wants} config")
    return Stage(
        entry["name"],
        entry["command"],
        config,
        entry.get("overrides") or {},
        tuple(entry.get("arguments") or ()),
    )


def _shipped(folder: Path) -> Path:
    root = Path(str(files("kernelwright.configs")))
    if (root / folder.name / PIPELINE).is_file():
        return root / folder.name
    names = sorted(each.parent.name for each in root.glob(f"*/{PIPELINE}"))
    raise UserError(f"no recipe at {folder} (no {PIPELINE}); shipped ones: {', '.join(names)}")


def _at(run: Path, value: Any) -> str:
    return str(value).replace("{run}", str(run))
