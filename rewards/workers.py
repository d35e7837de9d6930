"""The judge's side of the workers: start them from the warm parent, order them, end them.

Every wait has a deadline; a worker that outlives it is killed with all it started. What a worker
says is parsed and bounded, and its word is never the verdict.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernelwright.rewards import machine
from kernelwright.rewards.backend import load_backend
from kernelwright.rewards.channel import Channel, Closed
from kernelwright.rewards.sandbox import Limits

START_TIMEOUT_S = 180.0  # the first start on a machine builds what all builds share


class WorkerDied(Exception):
    """The worker ended or fell silent; the text says how: a signal's name or an exit code."""


class WorkerTimeout(Exception):
    """The worker did not answer within its budget, and was killed."""


class InfraError(Exception):
    """Our own machinery failed; never the candidate's fault."""


@dataclass(frozen=True, slots=True)
class Exit:
    """How a worker ended."""

    code: int | None
    signal: int | None
    peak_bytes: int
    cpu_s: float


class WarmParent:
    """The process that forks workers, and the routing of what it reports."""

    def __init__(self, backend: str, threads: int) -> None:
        self._channel, theirs = Channel.pair()
        environment = machine.environment(threads, load_backend(backend).device)
        environment |= {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        module = "kernelwright.rewards.warm_parent"
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(theirs.fileno()), backend],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=environment,
            cwd="/",
        )
        theirs.close()
        self._started: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._exits: dict[int, asyncio.Future[Exit]] = {}
        self._starting = asyncio.Lock()
        self._ready: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Wait until it can fork. `InfraError` where it cannot, for everyone who asks."""
        if self._ready is None:
            self._ready = asyncio.ensure_future(self._greet())
        await asyncio.shield(self._ready)

    async def _greet(self) -> None:
        try:
            message = await self._channel.receive_async(START_TIMEOUT_S)
        except (Closed, TimeoutError) as error:
            raise InfraError("the warm parent did not start; its stderr says why") from error
        if "error" in message:
            raise InfraError(message["error"])
        asyncio.get_running_loop().add_reader(self._channel.fileno(), self._route)

    def _route(self) -> None:
        try:
            message, _ = self._channel.receive(timeout_s=1.0)
        except (Closed, TimeoutError):
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            for future in self._exits.values():
                if not future.done():
                    future.set_exception(InfraError("the warm parent is gone"))
            return
        if "exited" in message:
            pid = message.pop("exited")
            self._exits.setdefault(pid, self._future()).set_result(Exit(**message))
        else:
            self._started.put_nowait(message)

    def _future(self) -> "asyncio.Future[Exit]":
        return asyncio.get_running_loop().create_future()

    async def start(self, limits: Limits) -> "Worker":
        """A fresh worker, confined and waiting for orders."""
        await self.ready()
        scratch = Path(tempfile.mkdtemp(prefix="kw-"))
        channel, theirs = Channel.pair()
        async with self._starting:
            order = {"job": True, "limits": asdict(limits), "scratch": str(scratch)}
            try:
                self._channel.send(order, [theirs.fileno()])
                message = await asyncio.wait_for(self._started.get(), START_TIMEOUT_S)
            except (Closed, TimeoutError) as error:
                raise InfraError("the warm parent does not answer") from error
            finally:
                theirs.close()
        exited = self._exits.setdefault(message["pid"], self._future())
        worker = Worker(self, channel, message["pid"], exited, scratch)
        hello = await worker.ask_raw(START_TIMEOUT_S)
        worker.protections = tuple(hello["protections"])
        return worker

    def kill(self, pid: int) -> None:
        self._channel.send({"kill": pid})

    def forget(self, pid: int) -> None:
        self._exits.pop(pid, None)

    def close(self) -> None:
        """End it and every worker still alive."""
        self._channel.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Worker:
    """One confined process; use it as ``async with await parent.start(limits) as worker``."""

    def __init__(
        self,
        parent: WarmParent,
        channel: Channel,
        pid: int,
        exited: "asyncio.Future[Exit]",
        scratch: Path,
    ) -> None:
        self._parent, self.channel, self._pid = parent, channel, pid
        self._exited, self._scratch = exited, scratch
        self.protections: tuple[str, ...] = ()
        self.exit: Exit | None = None

    async def __aenter__(self) -> "Worker":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    async def ask(
        self, order: dict[str, Any], timeout_s: float, fds: Sequence[int] = ()
    ) -> dict[str, Any]:
        """The reply to *order*. `WorkerDied`, `WorkerTimeout`."""
        try:
            self.channel.send(order, fds)
        except Closed as error:
            raise WorkerDied(await self._how()) from error
        return await self.ask_raw(timeout_s)

    async def ask_raw(self, timeout_s: float) -> dict[str, Any]:
        """The next message. `WorkerDied`, `WorkerTimeout`."""
        try:
            return await self.channel.receive_async(timeout_s)
        except TimeoutError as error:
            raise WorkerTimeout(f"no answer in {timeout_s:g} s") from error
        except Closed as error:
            raise WorkerDied(await self._how()) from error

    def freeze(self) -> None:
        """Stop every thread of the worker and of what it started, until `thaw`."""
        signal_family(self._pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the worker go on."""
        signal_family(self._pid, signal.SIGCONT)

    async def _how(self) -> str:
        ended = await self.end()
        if ended.signal is not None:
            return signal.Signals(ended.signal).name
        return f"exit_{ended.code}"

    async def end(self) -> Exit:
        """Kill it if it lives, collect it, and remove its scratch folder."""
        if self.exit is None:
            self.channel.close()
            try:  # closing is the order to quit: give a healthy one the time for it
                self.exit = await asyncio.wait_for(asyncio.shield(self._exited), 0.05)
            except TimeoutError:
                self._parent.kill(self._pid)
                try:
                    self.exit = await asyncio.wait_for(asyncio.shield(self._exited), 30)
                except TimeoutError as error:
                    raise InfraError(f"worker {self._pid} cannot be killed") from error
            self._parent.forget(self._pid)
            shutil.rmtree(self._scratch, ignore_errors=True)
        return self.exit


def family(pid: int) -> list[int]:
    """*pid* and every process that descends from it, parents first."""
    found = [pid]
    for each in found:
        for listing in Path(f"/proc/{each}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # a thread that ended meanwhile
                found += [int(child) for child in listing.read_text().split()]
    return found


def signal_family(pid: int, number: signal.Signals) -> None:
    """Send a signal to *pid* and its descendants, those included that appear meanwhile."""
    told: set[int] = set()
    while fresh := set(family(pid)) - told:
        for each in fresh:
            with contextlib.suppress(ProcessLookupError):  # it ended
                os.kill(each, number)
        told |= fresh
