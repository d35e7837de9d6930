"""The judge's side of the oracle processes: one that compares, one for each other baseline.

A dead oracle is an infra error for the order at hand; the next order starts a new one, which knows
nothing, and the restart is counted.
"""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from kernelwright.rewards import machine
from kernelwright.rewards.channel import Channel, Closed
from kernelwright.rewards.workers import InfraError

START_TIMEOUT_S = 120.0


class Oracle:
    """One oracle process; orders are answered one at a time."""

    def __init__(self, folder: Path, threads: int, device: str) -> None:
        self._folder, self._threads, self._device = folder, threads, device
        self._process: subprocess.Popen[bytes] | None = None
        self.channel: Channel | None = None
        self._lock = asyncio.Lock()
        self._greeted = False
        self.generation = 0
        """Grows with each start and end: what an earlier process held is gone."""

    def start(self) -> None:
        """Launch the process without waiting for it."""
        self.channel, theirs = Channel.pair()
        environment = machine.environment(self._threads, self._device)
        module = "kernelwright.rewards.oracle_process"
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(theirs.fileno()), str(self._folder)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        theirs.close()
        self._greeted = False
        self.generation += 1

    async def ask(self, order: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """The reply to *order*. `InfraError` where none comes in time or it reports a failure."""
        async with self._lock:
            if self.channel is None:
                self.start()
            assert self.channel is not None
            try:
                if not self._greeted:
                    await self.channel.receive_async(START_TIMEOUT_S)
                    self._greeted = True
                self.channel.send(order)
                reply = await self.channel.receive_async(timeout_s)
            except (Closed, TimeoutError) as error:
                self.close()
                raise InfraError(f"oracle: no reply to {order['op']}: {error}") from error
        if "failed" in reply:
            raise InfraError(f"oracle: {reply['failed']}")
        return reply

    def freeze(self) -> None:
        """Stop every thread of the process until `thaw`; orders wait meanwhile."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the process go on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End the process; a later order starts another."""
        if self._process is not None:
            if self.channel is not None:
                self.channel.close()
            self._process.kill()
            self._process.wait()
        if self.channel is not None:
            self.generation += 1  # what it held is gone with it
        self.channel = None
        self._process = None
