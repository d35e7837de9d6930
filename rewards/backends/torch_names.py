"""Which torch names a failed slim build missed: compute, plumbing beyond slim, or nothing at all.

Reads the compiler's messages. The decision saves the twenty-second build against torch's own
headers for answers that would be illegal, or wrong, anyway.
"""

import re
import subprocess
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

# Operators that allocate, describe, view or copy: they cannot do a kernel's work.
_PLUMBING = (
    "empty empty_like empty_strided new_empty new_zeros new_ones new_full new_empty_strided "
    "zeros zeros_like ones ones_like full full_like scalar_tensor zero_ fill_ zero fill "
    "copy_ copy clone contiguous to _to_copy detach detach_ alias view view_as reshape "
    "reshape_as _reshape_alias _unsafe_view flatten unflatten ravel transpose transpose_ t t_ "
    "numpy_T mT mH permute movedim moveaxis swapaxes swapdims select slice narrow squeeze "
    "squeeze_ unsqueeze unsqueeze_ expand expand_as broadcast_to as_strided as_strided_ split "
    "split_with_sizes chunk unbind unfold diagonal resize_ set_ item _local_scalar_dense size "
    "stride sym_size sym_stride sym_numel is_contiguous is_pinned pin_memory is_floating_point "
    "is_complex is_nonzero is_same_size is_set_to numel dim requires_grad_ set_data data "
    "is_leaf output_nr _version retain_grad lift lift_fresh cpu cuda type_as dense_dim"
)
PLUMBING = frozenset(_PLUMBING.split())
_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "+=": "add_", "-=": "sub_"}
_OPERATORS |= {"*=": "mul_", "/=": "div_", "<": "lt", ">": "gt", "==": "eq", "!=": "ne"}
_OPERATORS |= {"<=": "le", ">=": "ge", "%": "remainder", "&": "bitwise_and", "|": "bitwise_or"}
_MEMBER = re.compile(
    r"error: '(\w+)' is not a member of '(?:at|torch|c10|torch::nn::functional|at::native)'"
    r"|error: '(?:const )?(?:class |struct )?at::Tensor' has no member named '(\w+)'"
)
_OPERATOR = re.compile(
    r"error: no match for 'operator(\S+?)'.* \(operand types? (?:are|is) .*at::Tensor"
)
_BEYOND = re.compile(
    r"fatal error: (?:ATen|torch|c10|pybind11|caffe2)/[^:]*: No such file"
    r"|kernelwright_no_conversion"
    r"|error: '[\w:]*' (?:in|is not a member of|has not been declared).*"
    r"'?(?:torch|at|c10|pybind11|py)\b"
    r"|error: '(?:torch|at|c10|py|pybind11)(?:::\w+)*' (?:has not been declared|does not name)"
    r"|error: '(?:const )?(?:class |struct )?(?:at|c10|caffe2|pybind11)::[^']*' has no member"
    r"|error: no matching function for call to '(?:at|c10|torch|pybind11)::"
    r"|error: '(?:AT|TORCH|C10|PYBIND11)_\w+' (?:was not declared|has not been declared|does not)"
)
_FUNCTIONAL = re.compile(r"\b(?:functional|F)::(\w+)\s*\(")
_MISSING_HEADER = re.compile(r"fatal error: ([\w/.+-]+): No such file")


@lru_cache
def operators() -> frozenset[str]:
    """Base names of every ATen operator of the installed torch."""
    import torch

    names = torch._C._dispatch_get_all_op_names()
    return frozenset(name[6:].split(".")[0] for name in names if name.startswith("aten::"))


def is_compute(name: str) -> bool:
    """Whether *name* is an ATen operator that could do a kernel's work."""
    return name not in PLUMBING and name in operators()


def compute_missed(messages: str, source: str) -> str | None:
    """The first compute operator that *messages* say the slim headers lack, or None."""
    for line in messages.splitlines():
        if found := _MEMBER.search(line):
            name = found.group(1) or found.group(2)
            if is_compute(name):
                return name
        if found := _OPERATOR.search(line):
            return _OPERATORS.get(found.group(1), found.group(1))
    if "functional" in messages or "'nn'" in messages or "torch::nn" in messages:
        return next((name for name in _FUNCTIONAL.findall(source) if is_compute(name)), None)
    return None


def beyond_slim(messages: str) -> bool:
    """Whether torch's own headers could make the build work: every torch name missed exists."""
    names = [a or b for a, b in (m.groups() for m in _MEMBER.finditer(messages))]
    if any(not _in_headers(name) for name in names):
        return False
    missing = _MISSING_HEADER.search(messages)
    if missing and not (torch_include() / missing.group(1)).is_file():
        return False
    return bool(names) or _BEYOND.search(messages) is not None


def torch_include() -> Path:
    """torch's include folder, found without importing torch."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("torch")
    return Path(spec.origin).parent / "include"


@lru_cache
def _in_headers(name: str) -> bool:
    folders = ("ATen", "c10", "torch/csrc/api/include", "torch/headeronly", "torch/csrc/utils")
    root = torch_include()
    found = [str(root / folder) for folder in folders if (root / folder).is_dir()]
    done = subprocess.run(
        ["grep", "-rqwF", "--include=*.h", "--", name, *found], stderr=subprocess.DEVNULL
    )
    return done.returncode == 0
