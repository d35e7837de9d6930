"""Chains of one to four pointwise operators over one tensor."""

import random
from collections.abc import Sequence

from kernelwright.data_synth.operators import Applied, chain
from kernelwright.data_synth.source import (
    answer,
    fill,
    function,
    pointers,
    reference,
    vector_math,
    with_vector_math,
)
from kernelwright.data_synth.spec import Spec

SHAPES = ("128, 1024", "256, 512", "256, 1024", "512, 512", "8, 32, 512", "8, 32, 500")
OMP = "#pragma omp parallel for simd"

_HEAD = """
auto y = torch::empty_like(x);
@pointers
int64_t n = x.numel();
"""
_PASS = """
@omp
for (int64_t i = 0; i < n; i++) {
  float v = $source[i];
  @ops
  yp[i] = v;
}
"""


def one_pass(ops: Sequence[str], source: str = "xp", omp: str = "") -> list[str]:
    """A loop over ``n`` elements from *source* to ``yp``, with *ops* on ``v``."""
    return fill(_PASS, source=source, ops=ops, omp=[omp] if omp else [])


def passes(ops: Sequence[str], omp: str = "") -> list[str]:
    """One loop in place on ``yp`` for each of *ops*."""
    return [line for op in ops for line in one_pass([op], "yp", omp)]


def sample(rng: random.Random) -> Spec:
    """A chain; its mechanisms differ in passes over memory, threads and vector arithmetic."""
    ops = chain(rng, rng.choice((1, 2, 2, 3, 3, 4)))
    return Spec(
        family="elementwise",
        operators=tuple(op.name for op in ops),
        reference=reference([op.torch for op in ops], [f"torch.randn({rng.choice(SHAPES)})"]),
        answers={name: answer(cpp) for name, cpp in _mechanisms(ops).items()},
    )


def _mechanisms(ops: list[Applied]) -> dict[str, list[str]]:
    lines = [op.cpp for op in ops]
    head = fill(_HEAD, pointers=pointers())
    fused = function(head + one_pass(lines, omp=OMP))
    found = {
        "naive": function(head + one_pass([]) + passes(lines)),
        "unfused_parallel": function(head + one_pass([], omp=OMP) + passes(lines, OMP)),
        "fused": function(head + one_pass(lines)),
        "fused_parallel": fused,
    }
    both = with_vector_math(found, "fused_parallel")
    if both is not found:
        both["vector"] = vector_math(function(head + one_pass(lines, omp="#pragma omp simd")))
    return both
