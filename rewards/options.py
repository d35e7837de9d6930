"""What a verifier is asked for: one frozen record, shared by reward and evaluation."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.rewards.reward import LAMBDA, NU_MAX

BASELINES = ("eager", "compile")


def default_cache() -> Path:
    """``$XDG_CACHE_HOME/kernelwright``, by default ``~/.cache/kernelwright``."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kernelwright"


@dataclass(frozen=True, slots=True)
class VerifierOptions:
    """Settings of one `LocalVerifier`."""

    backend: str = "cpu"
    baselines: tuple[str, ...] = ("eager",)
    """Timed beside the candidate; the reward takes the fastest."""
    time: bool = True
    """Whether right and legal candidates are timed. Without it, a speed-up is never rewarded."""
    workers: int = 2
    """Candidates built and checked at once; timing is always alone."""
    build_timeout_s: float = 90.0
    run_timeout_s: float = 20.0
    timing_timeout_s: float = 60.0
    memory_bytes: int = 4 << 30
    certificate_bytes: int = 2 << 30
    """Tensors of certified tasks that are held before the oldest are dropped."""
    reward_lambda: float = LAMBDA
    reward_nu_max: float = NU_MAX
    all_gates: bool = False
    """Run on after a failed gate, for diagnosis; earns nothing more."""
    seed: int | None = None
    """Master seed of the secret trial seeds; None draws one. Only for replay and tests."""
    store: Path | None = None
    """JSONL file that keeps verdicts for a resumed run."""
    cache: Path = field(default_factory=default_cache)
    infra_retries: int = 2

    def __post_init__(self) -> None:
        for name in self.baselines:
            if name not in BASELINES:
                raise ValueError(f"no baseline {name!r}; baselines: {', '.join(BASELINES)}")
        if not self.baselines:
            raise ValueError("at least one baseline is needed")

    @property
    def asked(self) -> str:
        """What of these settings a kept verdict depends on."""
        return f"{self.backend}/{','.join(self.baselines) if self.time else 'untimed'}"
