"""A task: one PyTorch module to be rewritten as a kernel.

The source is in the KernelBench format: a module file that defines ``Model``, ``get_inputs()`` and
``get_init_inputs()``. Whether it can be judged at all is the certificate's business, not this
file's.
"""

import hashlib
from dataclasses import dataclass, field

MODES = ("eval", "train")
PRECISIONS = ("ieee", "tf32")


@dataclass(frozen=True, slots=True)
class Task:
    """A PyTorch reference and what is declared about it."""

    id: str
    source: str
    """The reference module's Python text."""
    mode: str = "eval"
    """``eval`` or ``train``: which way the reference and the candidate are run."""
    precision: str = "ieee"
    """``ieee`` (TF32 off everywhere) or ``tf32``."""
    family: str = "unknown"
    """Operator family, for sampling and for tables."""
    operators: tuple[str, ...] = ()
    """Operators in order of application, as far as they are known."""
    level: int = 0
    """KernelBench level 1-3; 0 where there is none."""
    provenance: str = "user"
    """Where the reference came from."""
    licence: str = "unknown"
    domains: dict[str, str] = field(default_factory=dict)
    """Per input index ("0", "1", ...): real, positive, unit, index, bool. Missing means real."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"no mode {self.mode!r}; modes: {', '.join(MODES)}")
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"no precision {self.precision!r}; precisions: {', '.join(PRECISIONS)}"
            )

    @property
    def digest(self) -> str:
        """Content hash of everything that changes a verdict."""
        parts = (self.source, self.mode, self.precision, repr(sorted(self.domains.items())))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
