"""What a family draws: a reference module and its answers. It says nothing about who is right."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Spec:
    """One task with its answers, as Python modules."""

    family: str
    operators: tuple[str, ...]
    """In order of application; with the family, the identity of the composition."""
    reference: str
    """A KernelBench-format module: ``Model``, ``get_inputs()`` and ``get_init_inputs()``."""
    answers: dict[str, str]
    """Mechanism name to a whole answer module that defines ``ModelNew``."""
    domains: dict[str, str] = field(default_factory=dict)
    """Per input index ("0", "1", ...), as in `Task.domains`."""
    mode: str = "eval"
    """``eval`` or ``train``, as in `Task.mode`."""
