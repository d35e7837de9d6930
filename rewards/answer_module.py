"""An answer's Python text as a running ``ModelNew``; used only inside untrusted processes."""

import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelwright.rewards import blob
from kernelwright.rewards.backend import Sources

MODULE = "kernelwright_answer"


def instantiate(source_fd: int, init_fd: int, load: Callable[[Sources], Any]) -> Any:
    """Run the text behind *source_fd* with ``load_inline`` answered by *load*; build ``ModelNew``.

    *init_fd* holds a blob: init arguments and mode. The text is also written to a
    file, so that tracebacks and `inspect` can read it. Whatever the candidate raises, leaves.
    """
    import torch

    from kernelwright.rewards.backends.load_inline import Recorder

    source = os.pread(source_fd, os.fstat(source_fd).st_size, 0).decode()
    package = blob.parse(os.pread(init_fd, os.fstat(init_fd).st_size, 0))
    path = Path.cwd() / "answer.py"
    path.write_text(source)
    module = types.ModuleType(MODULE)
    module.__file__ = str(path)
    sys.modules[MODULE] = module
    Recorder(load).__enter__()  # for good: a call in `forward` must not reach torch's own either
    exec(compile(source, str(path), "exec"), module.__dict__)
    model = module.ModelNew(*package["init"])
    if not isinstance(model, torch.nn.Module):
        raise TypeError("ModelNew is not a torch.nn.Module")
    model.train(package["mode"] == "train")
    return model
