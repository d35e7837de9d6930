"""Where a killed run goes on: the last whole checkpoint, and no line of a later step.

What the checkpoint holds (weights, optimiser, schedule, random states, step) is transformers'; the
verdicts of lost steps are kept by the verifier's store and repeated from there.
"""

import json
from pathlib import Path

from kernelwright.configs.run_folder import RunFolder

BY_STEP = ("metrics.jsonl", "samples.jsonl", "infra.jsonl")
STATE = "trainer_state.json"


def last_checkpoint(folder: Path) -> tuple[Path | None, int]:
    """The newest checkpoint that was written to its end, and its step; (None, 0) without one."""
    found = {
        int(path.name.removeprefix("checkpoint-")): path
        for path in folder.glob("checkpoint-*")
        if path.name.removeprefix("checkpoint-").isdigit() and _whole(path)
    }
    return (found[max(found)], max(found)) if found else (None, 0)


def forget_after(run: RunFolder, step: int) -> None:
    """Remove the lines of steps after *step*: they are going to be written again."""
    for name in BY_STEP:
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
    """The trainer's state is the last file of a checkpoint."""
    try:
        json.loads((checkpoint / STATE).read_text())
    except (OSError, json.JSONDecodeError):
        return False
    return True
