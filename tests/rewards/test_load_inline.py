"""Every way people call load_inline comes down to the same Sources."""

import pytest

from kernelwright.rewards.backend import BuildError
from kernelwright.rewards.backends.load_inline import Placeholder, Recorder, record


def test_strings_and_lists_are_the_same_sources() -> None:
    one = record("a", "int f();", functions="f")
    other = record(name="b", cpp_sources=["int f();"], functions=["f"], verbose=False)
    assert one.cpp == other.cpp == ("int f();",)
    assert one.functions == other.functions == (("f", "f"),)
    assert one.digest == other.digest, "the extension's name is not part of the content"


def test_a_dict_of_functions_keeps_its_docstrings() -> None:
    assert record("a", "", functions={"f": "doc of f"}).functions == (("f", "doc of f"),)


def test_no_functions_means_the_sources_bind_themselves() -> None:
    assert record("a", ["x"], extra_cflags=["-O2"]).functions is None
    assert record("a", ["x"], extra_cflags=["-O2"]).flags == ("-O2",)


def test_cuda_sources_may_be_positional() -> None:
    assert record("a", ["x"], ["y"]).cuda == ("y",)


@pytest.mark.parametrize(
    ("extra", "error"),
    [
        ({"fonctions": ["f"]}, TypeError),
        ({"functions": [3]}, TypeError),
        ({"is_python_module": False}, BuildError),
        ({"sycl_sources": "x"}, BuildError),
    ],
)
def test_what_no_backend_builds_is_refused(extra: dict, error: type[Exception]) -> None:
    with pytest.raises(error):
        record("a", "x", **extra)


def test_the_recorder_hands_out_placeholders_and_puts_torch_back() -> None:
    from torch.utils import cpp_extension

    original = cpp_extension.load_inline
    namespace: dict = {}
    with Recorder() as recorder:
        exec(
            "from torch.utils.cpp_extension import load_inline\n"
            "import torch\n"
            "m = load_inline(name='k', cpp_sources='int f();', functions=['f'])\n"
            "n = torch.utils.cpp_extension.load_inline('k2', ['int g();'], functions='g')\n",
            namespace,
        )
    assert cpp_extension.load_inline is original
    assert [each.name for each in recorder.calls] == ["k", "k2"]
    assert isinstance(namespace["m"], Placeholder)
    with pytest.raises(RuntimeError, match="only being recorded"):
        namespace["m"].f(1)


def test_load_from_files_is_refused_clearly() -> None:
    from torch.utils import cpp_extension

    with Recorder(), pytest.raises(BuildError, match="use load_inline"):
        cpp_extension.load(name="x", sources=["x.cpp"])
