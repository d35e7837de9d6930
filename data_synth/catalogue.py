"""Every family by name. A draw depends on the family and the seed alone."""

import random
from collections.abc import Callable

from kernelwright.data_synth.families import (
    channels,
    columns,
    convolution,
    elementwise,
    fusion,
    groups,
    logsumexp,
    loss,
    masking,
    matmul,
    norm,
    pooling,
    reduction,
    softmax,
    transpose,
)
from kernelwright.data_synth.spec import Spec

FAMILIES: dict[str, Callable[[random.Random], Spec]] = {
    "elementwise": elementwise.sample,
    "fusion": fusion.sample,
    "reduction": reduction.sample,
    "column_reduction": columns.reduction,
    "scan": columns.scan,
    "softmax": softmax.softmax,
    "log_softmax": softmax.log_softmax,
    "logsumexp": logsumexp.sample,
    "layer_norm": norm.layer_norm,
    "rms_norm": norm.rms_norm,
    "normalize": norm.normalize,
    "batch_norm": channels.batch_norm,
    "batch_norm_train": channels.batch_norm_train,
    "group_norm": groups.group_norm,
    "matmul": matmul.matmul,
    "bmm": matmul.bmm,
    "linear": matmul.linear,
    "conv2d": convolution.conv2d,
    "depthwise_conv2d": convolution.depthwise_conv2d,
    "pooling": pooling.sample,
    "transpose": transpose.sample,
    "masking": masking.sample,
    "loss": loss.pairwise,
    "cross_entropy": loss.cross_entropy,
}


def sample(family: str, seed: int) -> Spec:
    """The task and answers that *seed* draws from *family*; ``ValueError`` for another family."""
    if family not in FAMILIES:
        raise ValueError(f"no family {family!r}; families: {', '.join(FAMILIES)}")
    return FAMILIES[family](random.Random(f"{family}:{seed}"))
