"""Losses averaged or summed over all elements, and cross entropy over classes."""

import random

from kernelwright.data_synth.operators import chain
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

SHAPES = ("128, 1024", "256, 512", "256, 1024", "512, 512", "500, 384")
_LOSSES = {
    "mse_loss": ("F.mse_loss(x, t$r)", ["v = v - tp[i];", "v = v * v;"]),
    "l1_loss": ("F.l1_loss(x, t$r)", ["v = v - tp[i];", "v = fabsf(v);"]),
    "smooth_l1_loss": (
        "F.smooth_l1_loss(x, t$r)",
        ["v = fabsf(v - tp[i]);", "v = v < 1.0f ? 0.5f * v * v : v - 0.5f;"],
    ),
    "huber_loss": (
        "F.huber_loss(x, t, delta=$c$r)",
        ["v = fabsf(v - tp[i]);", "v = v < $cf ? 0.5f * v * v : $cf * (v - 0.5f * $cf);"],
    ),
    "bce_with_logits": (
        "F.binary_cross_entropy_with_logits(x, t$r)",
        [
            "float a = (v < 0.0f ? 0.0f : v) - v * tp[i];",
            "v = a + log1pf(expf(-fabsf(v)));",
        ],
    ),
    "soft_margin": (
        "torch.mean(torch.square(F.relu(1.0 - x * t)))",
        ["v = 1.0f - v * tp[i];", "v = v < 0.0f ? 0.0f : v;", "v = v * v;"],
    ),
}
_HEAD = """
auto y = torch::empty({}, x.options());
@pointers
int64_t n = x.numel();
double s = 0.0;
"""
_SUM = """
@omp
for (int64_t i = 0; i < n; i++) {
  float v = $source[i];
  @ops
  s += v;
}
"""
_STORED = """
auto u = torch::empty_like(x);
float* up = u.data_ptr<float>();
for (int64_t i = 0; i < n; i++) {
  float v = xp[i];
  @ops
  up[i] = v;
}
"""
_ENTROPY = """
int64_t rows = x.size(0), cols = x.size(1);
auto y = torch::empty({}, x.options());
const float* xp = x.data_ptr<float>();
const int64_t* tp = t.data_ptr<int64_t>();
float* yp = y.data_ptr<float>();
double z = 0.0;
@omp
for (int64_t i = 0; i < rows; i++) {
  const float* xr = xp + i * cols;
  float m = -INFINITY;
  double s = 0.0;
  @row
  z += m + log(s) - $picked;
}
yp[0] = z / rows;
"""
_TWO_PASS = """
@simdmax
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  m = v > m ? v : m;
}
@simdsum
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  s += expf(v - m);
}
float v = xr[tp[i]];
@pre
"""
_ONLINE = """
for (int64_t j = 0; j < cols; j++) {
  float v = xr[j];
  @pre
  if (v > m) {
    s = s * expf(m - v);
    m = v;
  }
  s += expf(v - m);
}
float v = xr[tp[i]];
@pre
"""


def pairwise(rng: random.Random) -> Spec:
    """A loss between a prediction, after an activation or none, and a target."""
    name = rng.choice(sorted(_LOSSES))
    torch, cpp = _LOSSES[name]
    total = rng.choice((True, False, False)) and name != "soft_margin"
    constant = rng.choice(("0.5", "1.0", "2.0"))
    before = chain(rng, rng.choice((0, 1)), ("tanh", "sigmoid", "mul", "relu", "clamp"))
    call = torch.replace("$c", constant).replace("$r", ', reduction="sum"' if total else "")
    lines = [op.cpp for op in before] + [line.replace("$c", constant) for line in cpp]
    inputs, shape = ("x", "t"), rng.choice(SHAPES)
    unit = name == "bce_with_logits"
    head = fill(_HEAD, pointers=pointers(inputs))
    end = ["yp[0] = s;" if total else "yp[0] = s / n;"]

    def summed(pragma: str = "", source: str = "xp", ops: list[str] = lines) -> list[str]:
        return fill(_SUM, source=source, ops=ops, omp=[pragma] if pragma else [])

    parallel = summed("#pragma omp parallel for simd reduction(+:s)")
    kernels = {
        "naive": fill(_STORED, ops=lines) + summed(source="up", ops=[]),
        "fused": summed(),
        "simd": summed("#pragma omp simd reduction(+:s)"),
        "parallel": parallel,
    }
    cpps = {k: function(head + kernel + end, inputs) for k, kernel in kernels.items()}
    target = f"torch.rand({shape})" if unit else f"torch.randn({shape})"
    names = (*(op.name for op in before), f"{name}_sum" if total else name)
    forward = [op.torch for op in before] + [f"x = {call}"]
    return Spec(
        family="loss",
        operators=names,
        reference=reference(forward, [f"torch.randn({shape})", target], inputs),
        answers={k: answer(cpp, inputs) for k, cpp in with_vector_math(cpps, "parallel").items()},
        domains={"1": "unit"} if unit else {},
    )


def cross_entropy(rng: random.Random) -> Spec:
    """``F.cross_entropy`` with class indices, after an operator or none."""
    rows, cols = rng.choice(((256, 1024), (512, 512), (1024, 256), (128, 4096), (1000, 384)))
    before = chain(rng, rng.choice((0, 1, 1)), ("tanh", "mul", "clamp", "relu", "abs", "neg"))
    pre = [op.cpp for op in before]

    def kernel(template: str, simd: bool = False, omp: bool = False) -> list[str]:
        row = fill(
            template,
            pre=pre,
            simdmax=["#pragma omp simd reduction(max:m)"] * simd,
            simdsum=["#pragma omp simd reduction(+:s)"] * simd,
        )
        pragma = ["#pragma omp parallel for reduction(+:z)"] * omp
        return function(fill(_ENTROPY, row=row, omp=pragma, picked="v"), ("x", "t"))

    cpps = {
        "online": kernel(_ONLINE),
        "naive": kernel(_TWO_PASS),
        "parallel": kernel(_TWO_PASS, omp=True),
        "vector": vector_math(kernel(_TWO_PASS, simd=True)),
        "vector_parallel": vector_math(kernel(_TWO_PASS, simd=True, omp=True)),
    }
    tensors = [f"torch.randn({rows}, {cols})", f"torch.randint(0, {cols}, ({rows},))"]
    forward = [op.torch for op in before] + ["x = F.cross_entropy(x, t)"]
    return Spec(
        family="cross_entropy",
        operators=(*(op.name for op in before), "cross_entropy"),
        reference=reference(forward, tensors, ("x", "t")),
        answers={k: answer(cpp, ("x", "t")) for k, cpp in cpps.items()},
        domains={"1": "index"},
    )
