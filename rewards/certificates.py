"""Certificates of the tasks in use: made once, held while there is room, made again when lost.

A task's seed derives from the verifier's secret master seed: a certificate made again is the same.
"""

import asyncio
import hashlib
import shutil
from collections import OrderedDict
from dataclasses import asdict
from pathlib import Path

from kernelwright.rewards.certificate import Certificate
from kernelwright.rewards.oracle import Oracle
from kernelwright.rewards.record import from_plain
from kernelwright.rewards.task import Task

CERTIFY_TIMEOUT_S = 300.0


class Certificates:
    """The certificates of one verifier; among *oracles*, ``eager`` is the one that compares."""

    def __init__(
        self, oracles: dict[str, Oracle], folder: Path, master_seed: int, room_bytes: int
    ) -> None:
        self._oracles, self._folder = oracles, folder
        self._master_seed, self._room = master_seed, room_bytes
        self._held: OrderedDict[str, tuple[int, Certificate]] = OrderedDict()
        self._users: dict[str, int] = {}
        self._lock = asyncio.Lock()

    def seed(self, task: Task) -> int:
        """The secret seed of *task*'s trials."""
        text = f"{self._master_seed}/{task.digest}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "little")

    async def acquire(self, task: Task) -> Certificate:
        """The certificate of *task*, whose tensors stay held until `release`."""
        async with self._lock:
            generation, found = self._held.get(task.digest, (-1, None))
            if found is None or generation != self._oracles["eager"].generation:
                found = await self._make(task)
            self._held.move_to_end(task.digest)
            self._users[task.digest] = self._users.get(task.digest, 0) + 1
        return found

    def release(self, task: Task) -> None:
        self._users[task.digest] -= 1

    def folder(self, task: Task) -> Path:
        """Where the inputs of *task* are, for workers to read."""
        return self._folder / task.digest

    async def _make(self, task: Task) -> Certificate:
        order = {"op": "certify", "task": asdict(task), "seed": self.seed(task)}
        reply = await self._oracles["eager"].ask(order, CERTIFY_TIMEOUT_S)
        reply.pop("seconds")
        made = from_plain(Certificate, reply)
        self._held[task.digest] = (self._oracles["eager"].generation, made)
        await self._make_room()
        return made

    async def _make_room(self) -> None:
        held = sum(certificate.held_bytes for _, certificate in self._held.values())
        newest = next(reversed(self._held))
        for digest in list(self._held):
            if held <= self._room:
                return
            if self._users.get(digest, 0) or digest == newest:
                continue
            held -= self._held.pop(digest)[1].held_bytes
            shutil.rmtree(self._folder / digest, ignore_errors=True)
            for oracle in self._oracles.values():
                if oracle.channel is not None:
                    await oracle.ask({"op": "forget", "digest": digest}, 10.0)
