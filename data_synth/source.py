"""How references and answers are written: one place, so that every family writes the same lines.

A template is text in which a line ``@name`` stands for a list of lines, put in at its indentation,
and ``$name`` for a word. The lines that all answers share are here; what a kernel computes is not.
"""

import re
from collections.abc import Sequence

# The pragma changes no value; without it nothing that branches is vectorised. A flag would do too,
# but not fit the precompiled header. Inline std:: wrappers are not inlined under it: hence expf.
_PRAGMA = '#pragma GCC optimize ("no-trapping-math")'
_FLAGS = '["-O3", "-march=native", "-fopenmp"]'
_LIBM = ("exp", "tanh", "erf", "expm1", "log1p")
_MATH = {
    "vexp": """\
inline float vexp(float v) {
  float t = v < -87.3f ? -87.3f : v > 89.0f ? 89.0f : v;
  float n = t * 1.44269504f + 12582912.0f;
  n = n - 12582912.0f;
  t = t - n * 0.693145752f;
  t = t - n * 1.42860677e-6f;
  float p = 1.98756915e-4f * t + 1.39819995e-3f;
  p = p * t + 8.33345191e-3f;
  p = p * t + 4.16657959e-2f;
  p = p * t + 0.166666655f;
  p = p * t + 0.5f;
  p = p * t * t + t + 1.0f;
  int k = ((int)n + 126) << 23;
  float s;
  __builtin_memcpy(&s, &k, 4);
  return 2.0f * (p * s);
}
""",
    "vtanh": """\
inline float vtanh(float v) {
  float u = fabsf(v);
  float e = vexp(2.0f * u);
  float t = 1.0f - 2.0f / (e + 1.0f);
  t = copysignf(t, v);
  float z = v * v;
  float p = -5.70498873e-3f * z + 2.06390888e-2f;
  p = p * z - 5.37397156e-2f;
  p = p * z + 0.133314422f;
  p = p * z - 0.333332819f;
  p = p * z * v + v;
  return u < 0.625f ? p : t;
}
""",
    "verf": """\
inline float verf(float v) {
  float u = fabsf(v);
  float z = v * v;
  float r = -1.72853470e-5f * u + 3.83197126e-4f;
  r = r * z - 3.88396438e-3f * u + 2.42546219e-2f;
  r = r * u - 1.06777877e-1f;
  r = r * u - 6.34846687e-1f;
  r = r * u - 1.28717512e-1f;
  r = copysignf(1.0f - vexp(r * u - u), v);
  float p = -5.96761703e-4f * z + 4.99119423e-3f;
  p = p * z - 2.67681349e-2f;
  p = p * z + 1.12819925e-1f;
  p = p * z - 3.76125336e-1f;
  p = p * z + 1.28379166e-1f;
  p = p * v + v;
  return u < 0.92773f ? p : r;
}
""",
    "vexpm1": """\
inline float vexpm1(float v) {
  float t = vtanh(0.5f * v);
  return 2.0f * t / (1.0f - t);
}
""",
    "vlog1p": """\
inline float vlog1p(float v) {
  float t = v / (v + 2.0f);
  float z = t * t;
  float p = 0.0666666667f * z + 0.0769230769f;
  p = p * z + 0.0909090909f;
  p = p * z + 0.111111111f;
  p = p * z + 0.142857143f;
  p = p * z + 0.2f;
  p = p * z + 0.333333333f;
  p = p * z * t + t;
  return p + p;
}
""",
}


def fill(template: str, **parts: str | int | Sequence[str]) -> list[str]:
    """The lines of *template* with ``@name`` lines and ``$name`` words replaced by *parts*."""
    lines: list[str] = []
    for line in template.strip("\n").splitlines():
        bare = line.strip()
        if bare.startswith("@"):
            indent = line[: len(line) - len(line.lstrip())]
            inserted = parts[bare[1:]]
            assert not isinstance(inserted, int)
            lines += [f"{indent}{part}" for part in inserted]
        else:
            lines.append(re.sub(r"\$(\w+)", lambda match: str(parts[match[1]]), line))
    return lines


def function(body: Sequence[str], inputs: Sequence[str] = ("x",), output: str = "y") -> list[str]:
    """The C++ function ``run`` around *body*, which ends before its return."""
    arguments = ", ".join(f"torch::Tensor {name}" for name in inputs)
    indented = [f"  {line}" for line in body]
    return [f"torch::Tensor run({arguments}) {{", *indented, f"  return {output};", "}"]


def pointers(inputs: Sequence[str] = ("x",), outputs: Sequence[str] = ("y",)) -> list[str]:
    """Raw pointers to tensors: ``xp`` for ``x``."""
    reads = [f"const float* {name}p = {name}.data_ptr<float>();" for name in inputs]
    return [*reads, *(f"float* {name}p = {name}.data_ptr<float>();" for name in outputs)]


def answer(
    cpp: Sequence[str],
    inputs: Sequence[str] = ("x",),
    passed: Sequence[str] = (),
    init: Sequence[str] = (),
) -> str:
    """An answer module: C++ text *cpp*, called with *inputs* and the expressions *passed*.

    *init* holds the lines of the reference's ``__init__``, so that state_dict keys match.
    """
    given = ", ".join([f"{name}.contiguous()" for name in inputs] + list(passed))
    lines = [
        "import torch",
        "import torch.nn as nn",
        "from torch.utils.cpp_extension import load_inline",
        'cpp = r"""',
        "#include <torch/extension.h>",
        "#include <cmath>",
        _PRAGMA,
        *cpp,
        '"""',
        f'ext = load_inline("ext", cpp, functions=["run"], extra_cflags={_FLAGS})',
        "class ModelNew(nn.Module):",
        *_init(init),
        f"    def forward(self, {', '.join(inputs)}):",
        f"        return ext.run({given})",
    ]
    return "\n".join(lines) + "\n"


def vector_math(cpp: Sequence[str]) -> list[str]:
    """*cpp* with exp, tanh and their like as branch-free helpers, which a compiler can vectorise.

    ``log1p`` is of numbers from 0 to 1 and ``expm1`` of numbers below 0: nothing else is written.
    """
    text = "\n".join(cpp)
    for name in _LIBM:
        text = text.replace(f"{name}f(", f"v{name}(")
    helpers: list[str] = []
    for name, helper in reversed(_MATH.items()):
        if f"{name}(" in text or any(f"{name}(" in each for each in helpers):
            helpers.insert(0, helper)
    return ("".join(helpers) + text).splitlines()


def with_vector_math(kernels: dict[str, list[str]], best: str) -> dict[str, list[str]]:
    """*kernels*, and *best* of them with `vector_math` where that changes it."""
    if any(f"{name}f(" in line for line in kernels[best] for name in _LIBM):
        return {**kernels, "vector_parallel": vector_math(kernels[best])}
    return kernels


def reference(
    forward: Sequence[str],
    tensors: Sequence[str],
    inputs: Sequence[str] = ("x",),
    init: Sequence[str] = (),
) -> str:
    """A KernelBench-format module: *forward* ends in ``x``; *tensors* are drawn by get_inputs."""
    lines = [
        "import torch",
        "import torch.nn as nn",
        "import torch.nn.functional as F",
        "class Model(nn.Module):",
        *_init(init),
        f"    def forward(self, {', '.join(inputs)}):",
        *(f"        {line}" for line in forward),
        "        return x",
        "def get_inputs():",
        f"    return [{', '.join(tensors)}]",
        "def get_init_inputs():",
        "    return []",
    ]
    return "\n".join(lines) + "\n"


def _init(lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    body = ["super().__init__()", *lines]
    return ["    def __init__(self):", *(f"        {line}" for line in body)]
