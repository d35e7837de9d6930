"""The folder of one run: the same for every stage, and never written over by accident.

``config.yaml`` is written first, then JSON lines are appended and flushed one by one, so that what
a killed process leaves behind can be read and resumed. A number that is not finite is written as
null: it is no JSON. It does not know checkpoints: the trainer writes those beside the lines.
"""

import errno
import json
import logging
import math
import numbers
import os
import shutil
from pathlib import Path
from typing import Any

import yaml

from kernelwright.configs.errors import UserError

logger = logging.getLogger(__name__)

CONFIG = "config.yaml"
SWITCHES = ("resume", "overwrite")
"""Keys that say how to open a folder; they are not part of what the run is."""


class RunFolder:
    """An open run folder. `RunFolder.open` makes one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def open(
        cls,
        output_dir: str | Path,
        config: dict[str, Any],
        resume: bool = False,
        overwrite: bool = False,
    ) -> "RunFolder":
        """The folder *output_dir*, made ready, with *config* saved in it.

        A folder that holds anything is refused with a `UserError` unless *resume* (go on in it; a
        line torn by a kill is cut off) or *overwrite* (delete it, if it is a run folder). Under a
        launcher only the first process prepares the folder; the others take it as it is.
        """
        path = Path(output_dir)
        if int(os.environ.get("RANK", "0")) > 0:
            return cls(path)
        if resume and overwrite:
            raise UserError("resume and overwrite contradict each other; say one of them")
        try:
            if path.is_dir() and any(path.iterdir()):
                _reopen(path, config, resume, overwrite)
            path.mkdir(parents=True, exist_ok=True)
            _write(path / CONFIG, yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
        except OSError as error:
            raise disk_error(error, path) from error
        return cls(path)

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add *row* as one line to file *name*, and flush it."""
        line = json.dumps(_finite(row), ensure_ascii=False, allow_nan=False)
        try:
            # One unbuffered write to a file in append mode: lines of several processes do not mix.
            with (self.path / name).open("ab", buffering=0) as file:
                file.write(f"{line}\n".encode())
        except OSError as error:
            raise disk_error(error, self.path / name) from error

    def read(self, name: str) -> list[dict[str, Any]]:
        """The rows of file *name*; none where it is absent. A torn last line is dropped."""
        try:
            text = (self.path / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return []
        *lines, _torn = text.split("\n")
        rows = []
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                raise UserError(f"{self.path / name}: line {number} is not JSON") from None
        return rows


def disk_error(error: OSError, path: Path) -> UserError:
    """*error*, met while writing *path*, as the one line to tell the user."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError(f"the disk is full: {path}; free some space, then add --resume true")
    return UserError(f"cannot write {path}: {error.strerror or error}")


def _reopen(path: Path, config: dict[str, Any], resume: bool, overwrite: bool) -> None:
    if overwrite:
        if not (path / CONFIG).is_file():
            raise UserError(f"{path} is not a run folder (no {CONFIG}), so it is not deleted")
        shutil.rmtree(path)
    elif resume:
        _tell_changes(path / CONFIG, config)
        for file in path.glob("*.jsonl"):
            _cut_torn_line(file)
    else:
        raise UserError(f"{path} exists; add --resume true or --overwrite true, or choose another")


def _tell_changes(file: Path, config: dict[str, Any]) -> None:
    if not file.is_file():
        return
    before = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    for key in sorted({*before, *config} - set(SWITCHES)):
        if before.get(key) != config.get(key):
            logger.warning("resuming with %s: %r (was %r)", key, config.get(key), before.get(key))


def _cut_torn_line(file: Path) -> None:
    data = file.read_bytes()
    if data and not data.endswith(b"\n"):
        os.truncate(file, data.rfind(b"\n") + 1)


def _write(file: Path, text: str) -> None:
    part = file.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if value is None or isinstance(value, bool | str):
        return value
    # numpy and torch scalars register as numbers, or convert
    number = int(value) if isinstance(value, numbers.Integral) else float(value)
    return number if math.isfinite(number) else None
