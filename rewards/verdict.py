"""What happened to one candidate: enough to reward it, to explain it and to judge it again.

A verdict is data. It is written as one JSON line, holds no tensor, and never says how the expected
output looked beyond the place and size of the worst error.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Status(StrEnum):
    """The first thing that decided; `Verdict.detail` says which case of it."""

    OK = "ok"
    EXTRACT_ERROR = "extract_error"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    CORRECTNESS_ERROR = "correctness_error"
    CHEATING = "cheating"
    INFRA_ERROR = "infra_error"
    """The verifier's own fault. Never a reward."""
    INVALID_PROBLEM = "invalid_problem"
    """The task cannot be judged. Never a reward."""


UNSCORED = (Status.INFRA_ERROR, Status.INVALID_PROBLEM)


@dataclass(frozen=True, slots=True)
class Interval:
    """A measured ratio: its median and the bounds that hold it (see `timing`)."""

    lower: float
    median: float
    upper: float


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate's outcome."""

    name: str
    passed: bool | None
    """None: not reached."""
    detail: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one candidate for one task."""

    status: Status
    detail: str = ""
    q: float = 0.0
    """Share of the fixed trial list that passed, 0 to 1."""
    legal: bool = False
    """No gate found that the candidate lets something else do the work."""
    speedup: dict[str, Interval] = field(default_factory=dict)
    """Against each baseline (``eager``, ``compile``); empty where timing was not reached."""
    reward: float | None = None
    """The scalar of `reward.score`; None for infra_error and invalid_problem."""
    gates: tuple[Gate, ...] = ()
    timings_s: dict[str, float] = field(default_factory=dict)
    """Seconds spent by stage: certify, build, run, time, total."""
    latency_ms: dict[str, float] = field(default_factory=dict)
    """Median milliseconds a call: ``candidate`` and each baseline."""
    peak_memory_bytes: int = 0
    message: str = ""
    """Compiler output, traceback or worst error, condensed; safe to show to the model."""
    headers: str = ""
    """``slim`` or ``full``: which torch headers the build used."""
    task: str = ""
    task_digest: str = ""
    source_digest: str = ""
    backend: str = ""
    device: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    """Trial seeds, so that the trials can be repeated."""
    protections: tuple[str, ...] = ()
    """Sandbox layers that were active for the worker."""

    @property
    def label(self) -> str:
        """``status`` or ``status:detail``."""
        return f"{self.status}:{self.detail}" if self.detail else str(self.status)
