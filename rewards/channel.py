"""Messages between the judge and its helper processes: JSON with file descriptors beside it.

One SOCK_SEQPACKET pair a peer, so that a message is whole or absent. A peer may be untrusted:
what comes is parsed as JSON of bounded size and nothing else. Tensors travel as files (`blob`),
passed as descriptors, never in a message.
"""

import asyncio
import json
import os
import socket
from collections.abc import Sequence
from typing import Any

MAX_MESSAGE = 128 * 1024
_MAX_FDS = 16


class Closed(Exception):
    """The peer is gone, or spoke something else than a JSON object."""


class Channel:
    """One end of a pair."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    @classmethod
    def pair(cls) -> tuple["Channel", socket.socket]:
        """A channel for this process and the raw socket to hand to the peer."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return cls(ours), theirs

    def fileno(self) -> int:
        return self._sock.fileno()

    def close(self) -> None:
        self._sock.close()

    def send(self, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
        """Send *message*; the descriptors in *fds* are duplicated into the peer."""
        data = json.dumps(message).encode()
        if len(data) > MAX_MESSAGE:
            raise ValueError(f"message of {len(data)} bytes; at most {MAX_MESSAGE} are sent")
        try:
            socket.send_fds(self._sock, [data], list(fds))
        except OSError as error:
            raise Closed(str(error)) from error

    def receive(self, timeout_s: float | None = None) -> tuple[dict[str, Any], list[int]]:
        """The next message, waiting on this thread. ``TimeoutError``, `Closed`."""
        self._sock.settimeout(timeout_s)
        try:
            data, fds, _, _ = socket.recv_fds(self._sock, MAX_MESSAGE, _MAX_FDS)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from error
        return _parsed(data, fds)

    async def receive_async(self, timeout_s: float) -> dict[str, Any]:
        """The next message, waiting on the event loop. Descriptors in it are closed unread."""
        loop = asyncio.get_running_loop()
        self._sock.setblocking(False)
        ready: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(self._sock, wake)
        try:
            await asyncio.wait_for(ready, timeout_s)
        finally:
            loop.remove_reader(self._sock)
        message, fds = self.receive(timeout_s=1.0)
        for fd in fds:
            os.close(fd)
        return message


def _parsed(data: bytes, fds: list[int]) -> tuple[dict[str, Any], list[int]]:
    try:
        message = json.loads(data)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        for fd in fds:
            os.close(fd)
        raise Closed("end of messages" if not data else "not a JSON object")
    return message, list(fds)
