"""Reductions of each row to a number, with pointwise operators before and after."""

import random
from dataclasses import dataclass

from kernelwright.data_synth.families.elementwise import one_pass, passes
from kernelwright.data_synth.operators import CHEAP, Applied, chain
from kernelwright.data_synth.source import (
    answer,
    fill,
    function,
    pointers,
    reference,
    with_vector_math,
)
from kernelwright.data_synth.spec import Spec

SHAPES = ("128, 1024", "256, 1024", "512, 512", "64, 4096", "500, 384", "8, 64, 512")

# What would flatten a reduction to one value, so that any answer passes, is not drawn: activations
# that saturate on large sums, or that bound the values whose extreme is taken.
UNBOUNDED = ("leaky_relu", "abs", "add", "sub", "mul", "neg")
MONOTONE = ("leaky_relu", "add", "sub", "mul", "neg", "tanh", "sigmoid")
BEFORE = (*CHEAP, "sigmoid", "tanh", "silu", "square")


@dataclass(frozen=True, slots=True)
class Reduction:
    """``s`` accumulates over ``v``; ``$k`` stands for keepdim."""

    torch: str
    start: str
    step: str
    end: str
    clause: str = "+:s"
    gives: str = "real"


_VAR = "fmax(0.0, (q - s * s / cols) / (cols - 1))"
REDUCTIONS = {
    "sum": Reduction("torch.sum(x, dim=-1$k)", "double s = 0.0;", "s += v;", "s"),
    "mean": Reduction("torch.mean(x, dim=-1$k)", "double s = 0.0;", "s += v;", "s / cols"),
    "amax": Reduction(
        "torch.amax(x, dim=-1$k)", "float s = -INFINITY;", "s = v > s ? v : s;", "s", "max:s"
    ),
    "amin": Reduction(
        "torch.amin(x, dim=-1$k)", "float s = INFINITY;", "s = v < s ? v : s;", "s", "min:s"
    ),
    "norm": Reduction(
        "torch.norm(x, dim=-1$k)",
        "double s = 0.0;",
        "s += (double)v * v;",
        "sqrt(s)",
        gives="nonnegative",
    ),
    "norm1": Reduction(
        "torch.norm(x, p=1, dim=-1$k)",
        "double s = 0.0;",
        "s += fabsf(v);",
        "s",
        gives="nonnegative",
    ),
    "var": Reduction(
        "torch.var(x, dim=-1$k)",
        "double s = 0.0, q = 0.0;",
        "s += v, q += (double)v * v;",
        _VAR,
        "+:s,q",
        "nonnegative",
    ),
    "std": Reduction(
        "torch.std(x, dim=-1$k)",
        "double s = 0.0, q = 0.0;",
        "s += v, q += (double)v * v;",
        f"sqrt({_VAR})",
        "+:s,q",
        "nonnegative",
    ),
}
_HEAD = """
int64_t cols = x.size(-1), rows = x.numel() / cols;
auto y = torch::empty($shape, x.options());
"""
_ROWS = """
@omp
for (int64_t i = 0; i < rows; i++) {
  const float* xr = $source + i * cols;
  $start
  @simd
  for (int64_t j = 0; j < cols; j++) {
    float v = xr[j];
    @pre
    $step
  }
  float v = $end;
  @post
  yp[i] = v;
}
"""


def sample(rng: random.Random) -> Spec:
    """A reduction between up to two operators before it and up to two after."""
    name = rng.choice(sorted(REDUCTIONS))
    reduction = REDUCTIONS[name]
    extreme = name in ("amax", "amin")
    before = chain(rng, rng.choice((0, 1, 1, 2)), MONOTONE if extreme else BEFORE)
    after = chain(rng, rng.choice((0, 1, 1, 2)), (*UNBOUNDED, "sqrt"))
    if reduction.gives != "nonnegative" and after and after[0].name == "sqrt":
        after = after[1:]
    shape = rng.choice(SHAPES)
    keep = rng.choice((True, False))
    middle = reduction.torch.replace("$k", ", keepdim=True" if keep else "")
    forward = [*(op.torch for op in before), f"x = {middle}", *(op.torch for op in after)]
    sizes = [f"x.size({i})" for i in range(shape.count(","))] + ["1"] * keep
    head = fill(_HEAD, shape="{" + ", ".join(sizes) + "}")
    return Spec(
        family="reduction",
        operators=(*(op.name for op in before), name, *(op.name for op in after)),
        reference=reference(forward, [f"torch.randn({shape})"]),
        answers={k: answer(v) for k, v in _mechanisms(head, before, reduction, after).items()},
    )


def _mechanisms(
    head: list[str], before: list[Applied], reduction: Reduction, after: list[Applied]
) -> dict[str, list[str]]:
    pre, post = [op.cpp for op in before], [op.cpp for op in after]

    def rows(simd: bool, omp: bool) -> list[str]:
        return (
            head
            + pointers()
            + fill(
                _ROWS,
                source="xp",
                start=reduction.start,
                step=reduction.step,
                end=reduction.end,
                pre=pre,
                post=post,
                omp=["#pragma omp parallel for"] if omp else [],
                simd=[f"#pragma omp simd reduction({reduction.clause})"] if simd else [],
            )
        )

    found = {
        "naive": function(_naive(head, pre, reduction, post)),
        "fused": function(rows(False, False)),
        "fused_simd": function(rows(True, False)),
        "fused_parallel": function(rows(False, True)),
        "simd_parallel": function(rows(True, True)),
    }
    return with_vector_math(found, "simd_parallel")


def _naive(head: list[str], pre: list[str], reduction: Reduction, post: list[str]) -> list[str]:
    """Each operator writes a temporary ``t`` before the next one reads it."""
    first = "\n".join(one_pass([]) + passes(pre)).replace("yp[", "tp[").splitlines()
    last = "\n".join(passes(post)).replace("i < n;", "i < rows;").splitlines()
    middle = fill(
        _ROWS,
        source="tp",
        start=reduction.start,
        step=reduction.step,
        end=reduction.end,
        pre=[],
        post=[],
        omp=[],
        simd=[],
    )
    temporary = ["auto t = torch::empty_like(x);", *pointers(("x",), ("t", "y"))]
    return [*head, *temporary, "int64_t n = x.numel();", *first, *middle, *last]
