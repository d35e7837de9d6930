"""``pipeline.json``: which stages of a run are finished, what each was made of and what it took.

Written whole after every stage. It does not say how far an unfinished stage got: its own run folder
does.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from kernelwright.configs.errors import UserError
from kernelwright.configs.run_folder import disk_error

LEDGER = "pipeline.json"


@dataclass(frozen=True, slots=True)
class Done:
    """A finished stage."""

    digest: str
    """`Stage.digest` when it ran."""
    wall_s: float
    """Of the process that finished it; an interrupted one before it is not counted."""
    peak_rss_mb: float
    """Of the stage's largest process."""


def read_ledger(run: Path) -> dict[str, Done]:
    """The finished stages of *run* by name; none where there is no ledger."""
    file = run / LEDGER
    if not file.is_file():
        return {}
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))["stages"]
        return {name: Done(**row) for name, row in rows.items()}
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{file} is damaged; add --overwrite to run everything again") from None


def write_ledger(run: Path, done: dict[str, Done]) -> None:
    """Replace the ledger of *run*."""
    rows = {name: asdict(each) for name, each in done.items()}
    part = run / f"{LEDGER}.part"
    try:
        part.write_text(json.dumps({"stages": rows}, indent=2) + "\n", encoding="utf-8")
        part.replace(run / LEDGER)
    except OSError as error:
        raise disk_error(error, run / LEDGER) from error


@contextmanager
def sole_owner(run: Path) -> Iterator[None]:
    """Keep a second ``kernelwright run`` out of *run* until the block ends."""
    with (run / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"another kernelwright run is at work in {run}") from None
        yield
