"""Many may be busy at once, or one may be alone; the one waits until nobody is busy or queued."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Quiet:
    """A shared and an exclusive way to hold the machine. Belongs to one event loop."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._busy = 0
        self._alone = False

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[None]:
        """Hold it together with others. Counts from the moment of asking."""
        self._busy += 1
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._alone)
            yield
        finally:
            self._busy -= 1
            async with self._changed:
                self._changed.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold it with nobody else."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._busy == 0 and not self._alone)
            self._alone = True
        try:
            yield
        finally:
            async with self._changed:
                self._alone = False
                self._changed.notify_all()
