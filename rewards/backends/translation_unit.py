"""The text that is compiled: the candidate's sources between an include and the bindings.

Line numbers in messages stay relative to each source. Files outside the compiler's own search path
cannot be included.
"""

import re

from kernelwright.rewards.backend import BuildError, Sources
from kernelwright.rewards.backends.lean import is_lean
from kernelwright.rewards.backends.slim_kit import LEAN_HEADER, PREFIX_HEADER

DIAGNOSTICS = ("-fmax-errors=12", "-fdiagnostics-color=never", "-fno-diagnostics-show-caret")
_DIRECTIVE = re.compile(
    r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:include|include_next|import|embed)\b[ \t]*(.*)$", re.MULTILINE
)
_OPERAND = re.compile(r"<([\w./+-]+)>|\"([\w./+-]+)\"")
_HAS_INCLUDE = re.compile(r"__has_(?:include|embed)(?:_next)?\s*\(([^)]*)\)")
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)
_BEYOND_HEADERS = re.compile(
    r"^(?:torch/(?:csrc|nn|optim|serialize|library|custom_class)|ATen/(?:cpu|native|cuda|ops)|"
    r"c10/cuda|pybind11/(?:numpy|eigen|embed|chrono|complex|iostream))"
)
_REFERENCE = re.compile(r"undefined reference to [`']([^'\n]+)'")
_FORBIDDEN = re.compile(
    r"(?:at|c10|torch|caffe2|pybind11)::.*|_?Py[A-Z_].*|(?:cblas_|mkl_|dnnl_|LAPACKE_)\w+|"
    r"[sdcz](?:gemm|gemv|dot|axpy|scal|asum|nrm2|trsm|syrk|getrf|potrf)_?"
)


def _uncommented(source: str) -> str:
    source = re.sub(r"\\[ \t]*\n", "", source)
    return _COMMENT.sub(lambda found: found.group(1) or " ", source)


def _included(sources: Sources) -> list[str]:
    names = []
    for source in sources.cpp:
        for operand in _DIRECTIVE.findall(_uncommented(source)):
            found = _OPERAND.match(operand.strip())
            if not found:
                raise BuildError(f'#include {operand.strip()[:80]}: only <name> or "name"')
            names.append(found.group(1) or found.group(2))
    return names


def check_includes(sources: Sources) -> None:
    """``BuildError`` for an include of a file by its place, and for ``.incbin``."""
    names = _included(sources)
    for source in sources.cpp:
        text = _uncommented(source)
        names += [each.strip().strip('<>"') for each in _HAS_INCLUDE.findall(text)]
        if "incbin" in re.sub(r'"\s*"', "", text):
            raise BuildError(".incbin: a kernel cannot read files")
    for name in names:
        if name.startswith(("/", "~")) or ".." in name.split("/"):
            raise BuildError(f'#include "{name}": only headers on the search path')


def needs_full_headers(sources: Sources) -> bool:
    """Whether a header that only torch itself has is included."""
    return any(_BEYOND_HEADERS.match(name) for name in _included(sources))


def _numbered(sources: Sources) -> list[str]:
    several = len(sources.cpp) > 1
    lines = []
    for index, source in enumerate(sources.cpp):
        lines += [f'#line 1 "cpp_sources{f"[{index}]" * several}"', source]
    return [*lines, '#line 1 "bindings"']


def bindings(sources: Sources) -> list[str]:
    """What ``load_inline`` would append for ``functions``."""
    if sources.functions is None:
        return []
    lines = ["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {"]
    for name, doc in sources.functions:
        quoted = doc.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'm.def("{name}", torch::wrap_pybind_function({name}), "{quoted}");')
    return [*lines, "}"]


def slim(sources: Sources, macros: tuple[str, ...] = ()) -> str:
    """The translation unit for the slim headers; *macros* are lines that follow them."""
    header = LEAN_HEADER if is_lean(sources) else PREFIX_HEADER
    head = [f"#include <{header}>", "#define TORCH_EXTENSION_NAME kernel", *macros]
    return "\n".join([*head, *_numbered(sources), *bindings(sources), ""])


def full(sources: Sources, macros: tuple[str, ...] = ()) -> str:
    """The translation unit for torch's own headers."""
    head = ["#include <torch/extension.h>", *macros]
    return "\n".join([*head, *_numbered(sources), *bindings(sources), ""])


def forbidden_reference(messages: str) -> str | None:
    """A symbol that the linker missed because only torch, Python or a BLAS would have it."""
    for name in _REFERENCE.findall(messages):
        if name.startswith("kernelwright_"):
            raise BuildError("no functions are bound: give functions= or a PYBIND11_MODULE")
        if _FORBIDDEN.fullmatch(name):
            return str(name.split("(")[0])
    return None
