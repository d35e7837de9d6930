"""A verdict in the making: gates as they pass or fail, the first failure deciding."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from kernelwright.rewards.verdict import Gate, Status, Verdict

GATES = ("extract", "legality", "build", "correctness", "trace", "speed")


class Failed(Exception):
    """A gate failed and no further gate is wanted."""


class Draft:
    """Collects what happens to one candidate."""

    def __init__(self, base: Verdict, all_gates: bool) -> None:
        self.verdict = base
        self._all_gates = all_gates
        self._gates: dict[str, Gate] = {}
        self._began = time.perf_counter()

    @property
    def failed(self) -> bool:
        return self.verdict.status is not Status.OK

    def note(self, **fields: object) -> None:
        """Set fields of the verdict."""
        self.verdict = replace(self.verdict, **fields)  # type: ignore[arg-type]

    def spent(self, stage: str, seconds: float) -> None:
        """Add *seconds* to a stage's time."""
        timings = dict(self.verdict.timings_s)
        timings[stage] = timings.get(stage, 0.0) + seconds
        self.note(timings_s=timings)

    @contextmanager
    def gate(self, name: str) -> Iterator["Draft"]:
        """A gate that passes unless `fail` is called in it; its seconds are recorded."""
        began = time.perf_counter()
        self._gates[name] = Gate(name, True)
        try:
            yield self
        finally:
            seconds = time.perf_counter() - began
            self._gates[name] = replace(self._gates[name], seconds=round(seconds, 4))

    def passed(self, name: str, detail: str) -> None:
        """Say what a passing gate found."""
        if self._gates[name].passed:
            self._gates[name] = replace(self._gates[name], detail=detail)

    def fail(
        self, name: str, status: Status, detail: str, message: str = "", *, final: bool = False
    ) -> None:
        """Fail gate *name*. Raises `Failed` unless all gates are wanted and can go on."""
        shown = f"{status}:{detail}" if detail else str(status)
        self._gates[name] = Gate(name, False, shown)
        if not self.failed:
            self.note(status=status, detail=detail, message=message[:4000])
        if final or not self._all_gates:
            raise Failed

    def finish(self) -> Verdict:
        """The verdict with every gate in order, the unreached ones as such."""
        gates = tuple(self._gates.get(name, Gate(name, None)) for name in GATES)
        total = round(time.perf_counter() - self._began, 4)
        timings = {key: round(value, 4) for key, value in self.verdict.timings_s.items()}
        return replace(self.verdict, gates=gates, timings_s={**timings, "total": total})
