"""Tasks from a JSONL file, one `Task` a line, as the stages are given them."""

import json
from pathlib import Path

from kernelwright.configs.errors import UserError
from kernelwright.rewards.record import from_line
from kernelwright.rewards.task import Task


def read_tasks(path: str | Path) -> list[Task]:
    """The tasks in file *path*; a `UserError` says what keeps it from being used."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UserError(f"cannot read tasks {path}: {error.strerror}") from None
    tasks = []
    for number, line in enumerate(lines, start=1):
        try:
            tasks.append(from_line(Task, line))
        except (json.JSONDecodeError, TypeError, ValueError) as error:
            raise UserError(f"{path}: line {number} is not a task: {error}") from None
    if not tasks:
        raise UserError(f"{path} holds no task")
    ids = [task.id for task in tasks]
    if len(set(ids)) < len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise UserError(f"{path}: two tasks have the id {twice!r}")
    return tasks
