"""What the judge hands to a worker as descriptors, and how it reads a worker's words.

Nothing here is secret: an answer's text, a task's init arguments, a built object's sources.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelwright.rewards.candidate import Candidate

_PATHS = re.compile(r"(/[\w.+-]+){2,}/")


@contextmanager
def memory(name: str) -> Iterator[int]:
    """An anonymous file."""
    fd = os.memfd_create(name)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def answer_files(candidate: Candidate, task_folder: Path) -> Iterator[list[int]]:
    """The answer's text, and the init package of the task whose inputs are in *task_folder*."""
    with memory("answer") as source:
        os.pwrite(source, candidate.source.encode(), 0)
        init = os.open(task_folder / "init", os.O_RDONLY)
        try:
            yield [source, init]
        finally:
            os.close(init)


def shown(text: object) -> str:
    """An untrusted message, bounded and without this machine's folders."""
    return _PATHS.sub("", str(text))[:4000]
