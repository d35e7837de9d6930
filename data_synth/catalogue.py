"""Every family by name. A draw depends on the family and the seed alone."""

import random
from collections.abc import Callable

from kernelwright.data_synth.families import elementwise, fusion, matmul, norm, reduction, softmax
from kernelwright.data_synth.spec import Spec

FAMILIES: dict[str, Callable[[random.Random], Spec]] = {
    "elementwise": elementwise.sample,
    "fusion": fusion.sample,
    "reduction": reduction.sample,
    "softmax": softmax.softmax,
    "log_softmax": softmax.log_softmax,
    "layer_norm": norm.layer_norm,
    "rms_norm": norm.rms_norm,
    "normalize": norm.normalize,
    "matmul": matmul.matmul,
}


def sample(family: str, seed: int) -> Spec:
    """The task and answers that *seed* draws from *family*; ``ValueError`` for another family."""
    if family not in FAMILIES:
        raise ValueError(f"no family {family!r}; families: {', '.join(FAMILIES)}")
    return FAMILIES[family](random.Random(f"{family}:{seed}"))
