"""The untrusted process: runs one candidate and answers the judge's orders. Trusted by nobody.

It holds the candidate, its parameters and the inputs of the trial at hand: no reference, no
expected output, no seed, no tolerance, no clock that counts. Everything it sends is a claim; its
clean exit proves nothing. Orders: ``record`` (run the Python with ``load_inline`` recorded),
``compile`` (build sources, in a process that has run no candidate code), ``init``, ``trial``,
``prepare``, ``block``, ``emit``.
"""

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from kernelwright.rewards.backend import Artefact, Backend, BuildError, IllegalBuild, Sources
from kernelwright.rewards.channel import Channel, Closed
from kernelwright.rewards.record import from_plain, to_plain
from kernelwright.rewards.sandbox import Limits, enter

MAX_TEXT = 6000
Order = dict[str, Any]


class SourceChanged(Exception):
    """The worker asked for other sources than the builder recorded."""


def import_heavy() -> None:
    """Import what a child needs, so that a fork starts warm. Runs no operator."""
    import logging

    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)  # "No CUDA runtime"
    import torch
    import torch.nn.functional
    import torch.utils._python_dispatch
    import torch.utils.cpp_extension

    from kernelwright.rewards import answer_module, blob, trial  # noqa: F401

    assert torch.get_num_threads() >= 1  # reading the setting starts no pool


def serve(
    socket_fd: int, backend: Backend, limits: Limits, scratch: Path, pid_space: bool
) -> NoReturn:
    """Confine this process, then answer orders until told to quit. Never returns."""
    import socket

    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        judge = Channel(socket.socket(fileno=socket_fd))
        active = enter(limits, scratch) + (("pid",) if pid_space else ())
        judge.send({"ok": True, "protections": list(active)})
        session = Session(backend)
        while True:
            order, fds = judge.receive()
            if order["op"] == "quit":
                code = 0
                break
            judge.send(_answered(session, order, fds))
    except (Closed, KeyError):
        code = 2
    finally:
        os._exit(code)


def _answered(session: "Session", order: Order, fds: list[int]) -> Order:
    """The reply to *order*: any exception of the candidate becomes a value."""
    try:
        reply: dict[str, Any] = getattr(session, f"do_{order['op']}")(order, fds)
        return {"ok": True, **reply}
    except BuildError as error:
        return {"failed": "build", "text": str(error)[:MAX_TEXT]}
    except IllegalBuild as error:
        return {"failed": "illegal", "text": str(error)[:MAX_TEXT]}
    except SourceChanged as error:
        return {"failed": "source_changed", "text": str(error)}
    except BaseException as error:  # the candidate may raise anything, SystemExit included
        text = "".join(traceback.format_exception(error, limit=-4))[-MAX_TEXT:]
        return {"failed": type(error).__name__, "text": text}
    finally:
        for fd in fds:
            os.close(fd)


class Session:
    """The state of one candidate between orders."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._model: Any = None
        self._sets: list[Any] = []
        self._last: Any = None

    def do_record(self, _order: Order, fds: list[int]) -> Order:
        """Run the candidate's Python as far as ``ModelNew(*init)`` and give its sources."""
        from kernelwright.rewards.answer_module import instantiate
        from kernelwright.rewards.backends.load_inline import Placeholder

        recorded: list[Sources] = []

        def keep(sources: Sources) -> Any:
            recorded.append(sources)
            return Placeholder(sources)

        instantiate(fds[0], fds[1], keep)
        with os.fdopen(os.dup(fds[2]), "wb") as stream:
            stream.write(json.dumps([to_plain(each) for each in recorded]).encode())
        return {"count": len(recorded)}

    def do_compile(self, order: Order, fds: list[int]) -> Order:
        """Build the sources in the first descriptor; the object's bytes go into the second."""
        with os.fdopen(os.dup(fds[0]), "rb") as stream:
            sources = from_plain(Sources, json.loads(stream.read()))
        artefact = self._backend.build(sources, Path.cwd(), order["arch"])
        with open(artefact.path, "rb") as built, os.fdopen(os.dup(fds[1]), "wb") as stream:
            shutil.copyfileobj(built, stream)
        return {"headers": artefact.headers, "build_s": artefact.build_s}

    def do_init(self, order: Order, fds: list[int]) -> Order:
        """Run the candidate's Python with its artefacts, and load the parameters strictly."""
        from kernelwright.rewards import trial
        from kernelwright.rewards.answer_module import instantiate

        artefacts = {each["digest"]: each for each in order["artefacts"]}
        self._knock = trial.Knock()

        def load(sources: Sources) -> Any:
            if sources.digest not in artefacts:
                raise SourceChanged(f"sources {sources.digest} were not built")
            artefact = from_plain(Artefact, artefacts[sources.digest])
            return self._knock.wrap(self._backend.load(artefact))

        self._model = instantiate(fds[0], fds[1], load)
        return {}

    def do_trial(self, order: Order, fds: list[int]) -> Order:
        """One forward call on the inputs in the first descriptor; outputs go into the second."""
        from kernelwright.rewards import trial

        return trial.run(self._model, fds[0], fds[1], self._knock if order["knock"] else None)

    def do_prepare(self, _order: Order, fds: list[int]) -> Order:
        """Load the timing inputs, one set a descriptor, each with its parameters."""
        from kernelwright.rewards import trial

        self._sets = [trial.load_set(self._model, fd) for fd in fds]
        return {}

    def do_block(self, order: Order, _fds: list[int]) -> Order:
        """Call forward n times, walking through the timing inputs from a given start."""
        self._last = _calls(self._model, self._sets, order["n"], order["start"])
        return {}

    def do_emit(self, _order: Order, fds: list[int]) -> Order:
        """Write the last call's output."""
        from kernelwright.rewards import trial

        trial.write(fds[0], self._last)
        return {}


def _calls(model: Callable[..., Any], sets: list[Any], n: int, start: int) -> Any:
    import torch

    out = None
    with torch.no_grad():
        for index in range(start, start + n):
            out = model(*sets[index % len(sets)])
    return out


if __name__ == "__main__":
    sys.exit("kernelwright.rewards.worker is forked by the warm parent, not run")
