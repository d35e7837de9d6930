"""Builds against torch's own headers: twenty seconds, only for sources that need them.

The object is scanned like any other; of ATen it may use what allocates, describes, views or copies.
"""

import re
import sysconfig
from pathlib import Path

from kernelwright.rewards.backend import BuildError, IllegalBuild, Sources
from kernelwright.rewards.backends import translation_unit
from kernelwright.rewards.backends.compiler import condensed, run
from kernelwright.rewards.backends.object_scan import (
    ALLOWED_LIBRARIES,
    ALLOWED_SYMBOLS,
    demangled,
    read,
    scan,
)
from kernelwright.rewards.backends.torch_names import PLUMBING, torch_include

TIMEOUT_FACTOR = 5
_LIBRARIES = (r"libtorch\.so", r"libtorch_cpu\.so", r"libtorch_python\.so", r"libc10\.so")
_OPERATOR = re.compile(r"_ZN2at4_ops(\d+)(\w+)")
# Names of torch's libraries and of the Python interface that its binding layer needs. Operators are
# judged by name; kernels and the dispatcher itself are never allowed.
_NEVER = re.compile(
    r"_ZNK?2at6native.*|_ZNK?2at3cpu.*|_ZNK?2at4meta.*|_ZNK?3c1010Dispatcher.*|"
    r"_ZNK?5torch(2nn|3jit|6linalg|3fft).*|_ZN3c104impl.*OperatorEntry.*|PyRun_.*|PyEval_EvalCode.*|"
    r"Py_CompileString.*|PyCode_.*|PyMarshal_.*"
)
_TORCH = (r"_Z\w*(2at|3c10|5torch|6caffe2|8pybind11)\w*", r"_?Py[A-Z_]\w*", r"THP\w+|_Z\w*THP\w*")


def module_name(digest: str) -> str:
    """The extension's name: of its content alone, so that names never collide."""
    return f"kernel_{digest}"


def compile_object(
    command: list[str],
    sources: Sources,
    macros: tuple[str, ...],
    private: Path,
    timeout_s: float,
) -> None:
    """Compile *sources* to ``object.so`` in *private* and scan it."""
    include = torch_include()
    libraries = include.parent / "lib"
    (private / "main.cpp").write_text(translation_unit.full(sources, macros))
    name = module_name(sources.digest)
    done = run(
        [
            *(flag for flag in command if flag != "-fvisibility=hidden"),
            f"-DTORCH_EXTENSION_NAME={name}",
            "-DTORCH_API_INCLUDE_EXTENSION_H",
            f"-isystem{include}",
            f"-isystem{include / 'torch' / 'csrc' / 'api' / 'include'}",
            f"-isystem{sysconfig.get_paths()['include']}",
            "main.cpp",
            "-shared",
            f"-L{libraries}",
            *("-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"),
            *("-o", "object.so"),
        ],
        private,
        timeout_s * TIMEOUT_FACTOR,
    )
    if not done.ok:
        raise BuildError(condensed(done.output))
    check(private / "object.so")


def check(path: Path) -> None:
    """`IllegalBuild` where the object at *path* uses more of torch than plumbing."""
    for symbol in read(path).undefined:
        if found := _OPERATOR.match(symbol):
            operator = found.group(2)[: int(found.group(1))]
            base = operator
            while base not in PLUMBING and "_" in base:
                base = base.rpartition("_")[0]  # overloads: select_int, empty_memory_format
            if base not in PLUMBING:
                raise IllegalBuild(f"aten:{operator}")
        if _NEVER.fullmatch(symbol):
            raise IllegalBuild(f"symbol:{demangled(symbol)}")
    scan(path, ALLOWED_SYMBOLS + _TORCH, ALLOWED_LIBRARIES + _LIBRARIES)
