"""Choosing between values: masked_fill, where and triangles, with operators after."""

import random

from kernelwright.data_synth.families.elementwise import passes
from kernelwright.data_synth.operators import ACTIVATIONS, chain
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

SHAPES = ((256, 512), (256, 1024), (512, 512), (500, 384), (384, 768))
# torch, C++, second input, its domain
_KINDS = {
    "masked_fill": (
        "x.masked_fill(m, $c)",
        "v = mp[i * cols + j] ? $cf : v;",
        "torch.rand($shape) > 0.5",
        "bool",
    ),
    "where": (
        "torch.where(x > m, x, m * $c)",
        "v = v > mp[i * cols + j] ? v : mp[i * cols + j] * $cf;",
        "torch.randn($shape)",
        "real",
    ),
    "where_mask": (
        "torch.where(m, x, x * $c)",
        "v = mp[i * cols + j] ? v : v * $cf;",
        "torch.rand($shape) > 0.5",
        "bool",
    ),
    "tril": ("torch.tril(x)", "v = j <= i ? v : 0.0f;", "", ""),
    "triu": ("torch.triu(x)", "v = j >= i ? v : 0.0f;", "", ""),
}
_PASS = """
@omp
for (int64_t i = 0; i < rows; i++) {
  @simd
  for (int64_t j = 0; j < cols; j++) {
    float v = xp[i * cols + j];
    @ops
    yp[i * cols + j] = v;
  }
}
"""


def sample(rng: random.Random) -> Spec:
    """One choice, then up to two operators."""
    name = rng.choice(sorted(_KINDS))
    torch, cpp, second, domain = _KINDS[name]
    constant = rng.choice(("0.1", "0.25", "0.5", "2.0"))
    rows, cols = rng.choice(SHAPES)
    ops = chain(rng, rng.choice((0, 1, 1, 2)), (*ACTIVATIONS, "mul", "add", "abs"))
    inputs = ("x", "m") if second else ("x",)
    tensors = [f"torch.randn({rows}, {cols})"]
    if second:
        tensors.append(second.replace("$shape", f"{rows}, {cols}"))
    forward = [f"x = {torch}".replace("$c", constant), *(op.torch for op in ops)]
    first, post = cpp.replace("$c", constant), [op.cpp for op in ops]
    reads = pointers(("x",))
    if domain == "bool":  # as bytes: GCC does not vectorise a loop that reads bool
        reads = ["const uint8_t* mp = (const uint8_t*)m.data_ptr<bool>();", *reads]
    elif second:
        reads = ["const float* mp = m.data_ptr<float>();", *reads]
    head = ["int64_t rows = x.size(0), cols = x.size(1);", "auto y = torch::empty_like(x);", *reads]

    def kernel(lines: list[str], omp: bool = False, simd: bool = False) -> list[str]:
        pragma, vector = ["#pragma omp parallel for"] * omp, ["#pragma omp simd"] * simd
        return head + fill(_PASS, ops=lines, omp=pragma, simd=vector)

    count = ["int64_t n = rows * cols;"]
    simd = "#pragma omp parallel for simd"
    cpps = {
        "naive": kernel([first]) + count + passes(post),
        "unfused_parallel": kernel([first], omp=True) + count + passes(post, simd),
        "fused": kernel([first, *post]),
        "fused_parallel": kernel([first, *post], omp=True, simd=True),
    }
    plain = {k: function(body, inputs) for k, body in cpps.items()}
    found = with_vector_math(plain, "fused_parallel")
    if found is not plain:
        found["vector"] = vector_math(function(kernel([first, *post], simd=True), inputs))
    return Spec(
        family="masking",
        operators=(name, *(op.name for op in ops)),
        reference=reference(forward, tensors, inputs),
        answers={k: answer(body, inputs) for k, body in found.items()},
        domains={"1": domain} if domain == "bool" else {},
    )
