"""Where a killed training run goes on: the last whole checkpoint, and no line of a later step.

What a checkpoint holds (weights, optimiser, schedule, random states, step) is transformers'.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from kernelwright.configs.run_folder import RunFolder

STATE = "trainer_state.json"
"""The file that a trainer writes last into a checkpoint."""


def last_checkpoint(folder: Path) -> tuple[Path | None, int]:
    """The newest checkpoint that was written to its end, and its step; (None, 0) without one."""
    found = {
        int(path.name.removeprefix("checkpoint-")): path
        for path in folder.glob("checkpoint-*")
        if path.name.removeprefix("checkpoint-").isdigit() and _whole(path)
    }
    return (found[max(found)], max(found)) if found else (None, 0)


def forget_after(run: RunFolder, step: int, names: Sequence[str]) -> None:
    """Remove the rows of steps after *step* from files *names*: they will be written again."""
    for name in names:
        file = run.path / name
        if not file.exists():
            continue
        part = file.with_suffix(".part")
        with part.open("w", encoding="utf-8") as kept:
            for row in run.read(name):
                if row["step"] <= step:
                    kept.write(json.dumps(row, ensure_ascii=False) + "\n")
        part.replace(file)


def _whole(checkpoint: Path) -> bool:
    try:
        json.loads((checkpoint / STATE).read_text())
    except (OSError, json.JSONDecodeError):
        return False
    return True
