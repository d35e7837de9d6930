"""Work down the first dimension: reductions of columns, and running sums along either dimension."""

import random

from kernelwright.data_synth.families.reduction import BEFORE, MONOTONE, UNBOUNDED
from kernelwright.data_synth.operators import CHEAP, chain
from kernelwright.data_synth.source import (
    answer,
    fill,
    function,
    pointers,
    reference,
    with_vector_math,
)
from kernelwright.data_synth.spec import Spec

SHAPES = ("128, 1024", "256, 1024", "512, 512", "1024, 256", "500, 384")
_REDUCTIONS = {
    "sum": ("torch.sum(x, dim=0)", "0.0", "$s += v;", "$s"),
    "mean": ("torch.mean(x, dim=0)", "0.0", "$s += v;", "$s / rows"),
    "amax": ("torch.amax(x, dim=0)", "-INFINITY", "$s = v > $s ? v : $s;", "$s"),
    "amin": ("torch.amin(x, dim=0)", "INFINITY", "$s = v < $s ? v : $s;", "$s"),
}
_HEAD = """
int64_t rows = x.size(0), cols = x.size(1);
auto y = torch::empty($shape, x.options());
@pointers
"""
_BY_COLUMN = """
@omp
for (int64_t j = 0; j < cols; j++) {
  double s = $start;
  for (int64_t i = 0; i < rows; i++) {
    float v = xp[i * cols + j];
    @pre
    @step
    @store
  }
  @last
}
"""
# Tiles of 64 columns: whole cache lines, and partial results that stay in registers or L1.
_TILED = """
@omp
for (int64_t h = 0; h < cols; h += 64) {
  int64_t n = h + 64 < cols ? 64 : cols - h;
  double s[64];
  for (int64_t j = 0; j < n; j++) {
    s[j] = $start;
  }
  for (int64_t i = 0; i < rows; i++) {
    #pragma omp simd
    for (int64_t j = 0; j < n; j++) {
      float v = xp[i * cols + h + j];
      @pre
      @step
      @store
    }
  }
  @last
}
"""
_TILE_LAST = """
for (int64_t j = 0; j < n; j++) {
  float v = $end;
  @post
  yp[h + j] = v;
}
"""
_BY_ROW = """
@omp
for (int64_t i = 0; i < rows; i++) {
  double s = $start;
  for (int64_t j = 0; j < cols; j++) {
    float v = xp[i * cols + j];
    @pre
    @step
    @store
  }
}
"""
_SPLIT_ROW = """
@omp
for (int64_t i = 0; i < rows; i++) {
  const float* xr = xp + i * cols;
  float* yr = yp + i * cols;
  #pragma omp simd
  for (int64_t j = 0; j < cols; j++) {
    float v = xr[j];
    @pre
    yr[j] = v;
  }
  double s = $start;
  for (int64_t j = 0; j < cols; j++) {
    float v = yr[j];
    @step
    yr[j] = s;
  }
}
"""
_PASS = """
for (int64_t i = 0; i < rows * cols; i++) {
  float v = $from[i];
  @ops
  $to[i] = v;
}
"""
_SCANS = {
    "cumsum": ("torch.cumsum(x, dim=$dim)", "0.0", "$s += v;"),
    "cumprod": ("torch.cumprod(x, dim=$dim)", "1.0", "$s *= v;"),
}
# Factors within 1 % of 1, so that products of thousands stay finite.
_NEAR_ONE = (
    ("tanh", "x = torch.tanh(x)", "v = tanhf(v);"),
    ("mul", "x = x * 0.01", "v = v * 0.01f;"),
    ("add", "x = x + 1.0", "v = v + 1.0f;"),
)


def reduction(rng: random.Random) -> Spec:
    """A reduction of each column."""
    name = rng.choice(sorted(_REDUCTIONS))
    torch, start, step, end = _REDUCTIONS[name]
    extreme = name in ("amax", "amin")
    before = chain(rng, rng.choice((0, 1, 1)), MONOTONE if extreme else BEFORE)
    after = chain(rng, rng.choice((0, 1, 1)), UNBOUNDED)
    pre, post = [op.cpp for op in before], [op.cpp for op in after]
    head = fill(_HEAD, shape="{cols}", pointers=pointers())

    def kernel(tiled: bool, omp: bool) -> list[str]:
        s = "s[j]" if tiled else "s"
        last = fill(_TILE_LAST, end=end.replace("$s", s), post=post)
        if not tiled:
            last = [f"float v = {end.replace('$s', s)};", *post, "yp[j] = v;"]
        return head + fill(
            _TILED if tiled else _BY_COLUMN,
            start=start,
            step=[step.replace("$s", s)],
            pre=pre,
            store=[],
            last=last,
            omp=["#pragma omp parallel for"] * omp,
        )

    forward = [op.torch for op in before] + [f"x = {torch}"] + [op.torch for op in after]
    return Spec(
        family="column_reduction",
        operators=(*(op.name for op in before), name, *(op.name for op in after)),
        reference=reference(forward, [f"torch.randn({rng.choice(SHAPES)})"]),
        answers={
            "naive": answer(function(kernel(tiled=False, omp=False))),
            "parallel": answer(function(kernel(tiled=False, omp=True))),
            "tiled": answer(function(kernel(tiled=True, omp=False))),
            "tiled_parallel": answer(function(kernel(tiled=True, omp=True))),
        },
    )


def scan(rng: random.Random) -> Spec:
    """A running sum or product along rows or columns."""
    name = rng.choice(sorted(_SCANS))
    torch, start, step = _SCANS[name]
    dim = rng.choice((0, 1))
    if name == "cumsum":
        ops = [(op.name, op.torch, op.cpp) for op in chain(rng, rng.choice((0, 1, 2)), CHEAP)]
    else:
        ops = list(_NEAR_ONE)
    pre = [cpp for _, _, cpp in ops]
    head = fill(_HEAD, shape="{rows, cols}", pointers=pointers())

    def kernel(template: str, omp: bool = False, lines: list[str] = pre) -> list[str]:
        s, column = ("s[j]", "h + j") if template == _TILED else ("s", "j")
        return fill(
            template,
            start=start,
            step=[step.replace("$s", s)],
            pre=lines,
            store=[f"yp[i * cols + {column}] = {s};"],
            last=[],
            omp=["#pragma omp parallel for"] * omp,
        )

    first = ["auto t = torch::empty_like(x);", "float* tp = t.data_ptr<float>();"]
    first += fill(_PASS, **{"from": "xp", "to": "tp", "ops": []})
    for line in pre:
        first += fill(_PASS, **{"from": "tp", "to": "tp", "ops": [line]})
    template, better, best = (
        (_BY_ROW, _SPLIT_ROW, "split") if dim else (_BY_COLUMN, _TILED, "tiled")
    )
    plain = "\n".join(kernel(template, lines=[])).replace("xp[", "tp[").splitlines()
    kernels = {
        "naive": first + plain,
        "fused": kernel(template),
        "parallel": kernel(template, omp=True),
        best: kernel(better),
        f"{best}_parallel": kernel(better, omp=True),
    }
    cpps = with_vector_math({k: function(head + v) for k, v in kernels.items()}, f"{best}_parallel")
    forward = [line for _, line, _ in ops] + [f"x = {torch}".replace("$dim", str(dim))]
    return Spec(
        family="scan",
        operators=(*(operator for operator, _, _ in ops), f"{name}{dim}"),
        reference=reference(forward, [f"torch.randn({rng.choice(SHAPES)})"]),
        answers={k: answer(cpp) for k, cpp in cpps.items()},
    )
