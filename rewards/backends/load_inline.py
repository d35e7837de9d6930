"""``torch.utils.cpp_extension.load_inline`` taken over: what an answer asked for, as `Sources`.

Covers every way torch lets people call it. It builds nothing: the callback decides what an answer
gets back, a `Placeholder` where answers are only recorded.
"""

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from kernelwright.rewards.backend import BuildError, Sources


def record(
    name: str,
    cpp_sources: str | Iterable[str],
    cuda_sources: str | Iterable[str] | None = None,
    sycl_sources: str | Iterable[str] | None = None,
    functions: str | Iterable[str] | dict[str, str] | None = None,
    extra_cflags: Iterable[str] | None = None,
    extra_cuda_cflags: Iterable[str] | None = None,
    *_: Any,
    is_python_module: bool = True,
    **rest: Any,
) -> Sources:
    """The `Sources` of a call with these arguments, in torch's order.

    Include paths, linker flags, the build directory and the like do not reach the build.
    ``TypeError`` for an argument torch does not have, ``BuildError`` for what no backend builds.
    """
    if unknown := sorted(set(rest) - _REST):
        raise TypeError(f"load_inline() got an unexpected keyword argument {unknown[0]!r}")
    if sycl_sources:
        raise BuildError("sycl_sources: no backend builds SYCL")
    if not is_python_module:
        raise BuildError("is_python_module=False: bind with functions= or PYBIND11_MODULE")
    return Sources(
        name=str(name),
        cpp=_texts(cpp_sources, "cpp_sources"),
        cuda=_texts(cuda_sources, "cuda_sources"),
        functions=_functions(functions),
        flags=_texts(extra_cflags, "extra_cflags") + _texts(extra_cuda_cflags, "extra_cuda_cflags"),
    )


_REST = {
    "extra_sycl_cflags",
    "extra_ldflags",
    "extra_include_paths",
    "build_directory",
    "verbose",
    "with_cuda",
    "with_sycl",
    "with_pytorch_error_handling",
    "keep_intermediates",
    "use_pch",
    "no_implicit_headers",
}


def _texts(given: str | Iterable[str] | None, what: str) -> tuple[str, ...]:
    texts = () if given is None else (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(f"{what} must be a string or a list of strings")
    return texts


def _functions(
    given: str | Iterable[str] | dict[str, str] | None,
) -> tuple[tuple[str, str], ...] | None:
    if given is None:
        return None
    if isinstance(given, dict):
        return tuple((str(name), str(doc)) for name, doc in given.items())
    return tuple((name, name) for name in _texts(given, "functions"))


class Placeholder:
    """Stands for a module that is not built: its functions exist, and raise when called."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def not_built(*_: Any, **__: Any) -> None:
            raise RuntimeError(f"{name}() was called while the answer was only being recorded")

        not_built.__name__ = name
        return not_built


class Recorder:
    """While entered, ``load_inline`` gives *callback* its `Sources` and returns what that returns.

    ``calls`` lists them in order. An answer imported meanwhile keeps the replacement, so a model
    that compiles in its constructor must be constructed inside too.
    """

    def __init__(self, callback: Callable[[Sources], Any] = Placeholder) -> None:
        self._callback = callback
        self.calls: list[Sources] = []

    def load_inline(self, *args: Any, **kwargs: Any) -> Any:
        """What stands in for torch's function."""
        sources = record(*args, **kwargs)
        self.calls.append(sources)
        return self._callback(sources)

    @staticmethod
    def load(*_: Any, **__: Any) -> Any:
        """What stands in for torch's ``load``, which reads files that an answer does not have."""
        raise BuildError("cpp_extension.load builds from files: use load_inline")

    def __enter__(self) -> "Recorder":
        from torch.utils import cpp_extension

        self._saved = (cpp_extension.load_inline, cpp_extension.load)
        cpp_extension.load_inline = self.load_inline  # type: ignore[assignment]
        cpp_extension.load = self.load  # type: ignore[assignment]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        from torch.utils import cpp_extension

        cpp_extension.load_inline, cpp_extension.load = self._saved
