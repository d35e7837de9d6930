"""Pointwise operators: for each, the PyTorch line and the C++ line that always stand for it.

Reductions, normalisations and contractions are not here: they belong to their families.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pointwise:
    """From ``x`` to ``x`` in PyTorch and ``v`` to ``v`` in C++; ``$c`` is one of *constants*."""

    name: str
    torch: str
    cpp: str
    constants: tuple[float, ...] = ()
    gives: str = "real"
    """Range of the result: real, nonnegative, bounded (within ±8) or unit (0 to 1)."""
    needs: str = "real"
    """Range that the operand must have: real, nonnegative or bounded."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An operator with its constant."""

    name: str
    torch: str
    cpp: str


_SMALL = (0.01, 0.05, 0.1, 0.2, 0.3)
_MIDDLE = (0.1, 0.25, 0.5, 0.75, 1.5, 2.0, 3.0)
_HARD = "(v + 3.0f < 0.0f ? 0.0f : v + 3.0f > 6.0f ? 6.0f : v + 3.0f) / 6.0f"
_SOFTPLUS = "(v < 0.0f ? 0.0f : v) + log1pf(expf(-fabsf(v)))"
_GELU_TANH = "tanhf(0.79788456f * (v + 0.044715f * v * v * v))"

TABLE = (
    Pointwise("relu", "torch.relu(x)", "v < 0.0f ? 0.0f : v", gives="nonnegative"),
    Pointwise("sigmoid", "torch.sigmoid(x)", "1.0f / (1.0f + expf(-v))", gives="unit"),
    Pointwise("tanh", "torch.tanh(x)", "tanhf(v)", gives="bounded"),
    Pointwise("gelu", "F.gelu(x)", "0.5f * v * (1.0f + erff(v * 0.70710678f))"),
    Pointwise("gelu_tanh", 'F.gelu(x, approximate="tanh")', f"0.5f * v * (1.0f + {_GELU_TANH})"),
    Pointwise("silu", "F.silu(x)", "v / (1.0f + expf(-v))"),
    Pointwise("leaky_relu", "F.leaky_relu(x, $c)", "v < 0.0f ? v * $cf : v", _SMALL),
    Pointwise("elu", "F.elu(x, $c)", "v < 0.0f ? $cf * expm1f(v) : v", (0.5, 1.0, 1.5, 2.0)),
    Pointwise(
        "clamp",
        "torch.clamp(x, -$c, $c)",
        "v < -$cf ? -$cf : v > $cf ? $cf : v",
        (0.5, 1.0, 1.5, 2.0, 3.0),
        gives="bounded",
    ),
    Pointwise("relu6", "F.relu6(x)", "v < 0.0f ? 0.0f : v > 6.0f ? 6.0f : v", gives="bounded"),
    Pointwise("abs", "torch.abs(x)", "fabsf(v)", gives="nonnegative"),
    Pointwise("square", "torch.square(x)", "v * v", gives="nonnegative"),
    Pointwise("sqrt", "torch.sqrt(x)", "sqrtf(v)", gives="nonnegative", needs="nonnegative"),
    Pointwise("exp", "torch.exp(x)", "expf(v)", gives="nonnegative", needs="bounded"),
    Pointwise("neg", "-x", "-v"),
    Pointwise("add", "x + $c", "v + $cf", _MIDDLE),
    Pointwise("sub", "x - $c", "v - $cf", _MIDDLE),
    Pointwise("rsub", "$c - x", "$cf - v", _MIDDLE),
    Pointwise("mul", "x * $c", "v * $cf", _MIDDLE),
    Pointwise("softplus", "F.softplus(x)", _SOFTPLUS, gives="nonnegative"),
    Pointwise("softsign", "F.softsign(x)", "v / (1.0f + fabsf(v))", gives="bounded"),
    Pointwise("hardswish", "F.hardswish(x)", f"v * {_HARD}"),
    Pointwise("hardsigmoid", "F.hardsigmoid(x)", _HARD, gives="unit"),
    Pointwise("mish", "F.mish(x)", f"v * tanhf({_SOFTPLUS})"),
)

BY_NAME = {operator.name: operator for operator in TABLE}
_FITS = {
    "real": {"real", "nonnegative", "bounded", "unit"},
    "nonnegative": {"nonnegative", "unit"},
    "bounded": {"bounded", "unit"},
}
CHEAP = ("relu", "leaky_relu", "clamp", "relu6", "abs", "add", "sub", "mul", "neg", "hardswish")
ACTIVATIONS = ("relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu", "leaky_relu", "hardswish")


def apply(operator: Pointwise, rng: random.Random) -> Applied:
    """*operator* with a constant drawn, as one line of each language."""
    constant = str(rng.choice(operator.constants)) if operator.constants else ""
    torch, cpp = (text.replace("$c", constant) for text in (operator.torch, operator.cpp))
    return Applied(operator.name, f"x = {torch}", f"v = {cpp};")


def chain(
    rng: random.Random, length: int, names: Sequence[str] = tuple(BY_NAME), start: str = "real"
) -> list[Applied]:
    """*length* operators from *names*, no two alike in a row, each fit for what comes before it.

    Squares are drawn once at most, so that scaled inputs stay finite.
    """
    drawn: list[Applied] = []
    have = start
    while len(drawn) < length:
        operator = BY_NAME[rng.choice(names)]
        used = [each.name for each in drawn]
        repeated = used[-1:] == [operator.name] or (operator.name == "square" and "square" in used)
        if repeated or have not in _FITS[operator.needs]:
            continue
        drawn.append(apply(operator, rng))
        have = operator.gives
    return drawn
