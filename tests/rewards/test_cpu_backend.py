"""The cpu backend builds verbatim answers quickly and says what is wrong with the others."""

import math
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from kernelwright.rewards.backend import BuildError, IllegalBuild, Sources
from kernelwright.rewards.backends.cpu import CpuBackend
from kernelwright.rewards.backends.link import GOLD, gold_links
from kernelwright.rewards.backends.load_inline import Recorder, record
from kernelwright.rewards.backends.slim_kit import HEADERS

BACKEND = CpuBackend()
SCALE = """
torch::Tensor scale(torch::Tensor x, double factor) {
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous, its strides are ", x.strides());
  auto out = torch::empty_like(x);
  const float* from = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  #pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] * static_cast<float>(factor);
  return out;
}
"""
AT_MODULE_LEVEL = """
import torch
from torch.utils.cpp_extension import load_inline
source = r'''{source}'''
kernel = load_inline(name="k", cpp_sources={sources}, functions={functions}, verbose=False)
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
    def forward(self, x):
        return kernel.scale(x, 3.0)
"""
IN_CONSTRUCTOR = """
import torch
import torch.utils.cpp_extension
class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((2, 3), 2.0))
        self.kernel = torch.utils.cpp_extension.load_inline(
            "k", [r'''{source}'''], functions=["scale"], extra_cflags=["-O3", "-ffast-math"])
    def forward(self, x):
        return self.kernel.scale(self.weight, 3.0)
"""


@pytest.fixture(scope="module", autouse=True)
def prepared() -> None:
    """The shared parts are not part of a build's time."""
    BACKEND.prepare()


def processor_s() -> float:
    """Processor seconds of this process's finished children: steady on a busy machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def load(workdir: Path, source: str, functions: Any = None, **kwargs: Any) -> Any:
    """The module of one call, as an answer would get it."""
    return BACKEND.load(BACKEND.build(record("k", source, functions=functions, **kwargs), workdir))


def answered(workdir: Path, answer: str, *inputs: Any) -> Any:
    """What the answer module's ``ModelNew()(*inputs)`` returns."""
    namespace: dict[str, Any] = {"__name__": "answer"}
    build = Recorder(lambda sources: BACKEND.load(BACKEND.build(sources, workdir)))
    with build, torch.no_grad():
        exec(compile(answer, "answer", "exec"), namespace)
        return namespace["ModelNew"]()(*inputs)


@pytest.mark.parametrize("sources", ["source", "[source]", "['int64_t unused;', source]"])
@pytest.mark.parametrize("functions", ["'scale'", "['scale']", "{'scale': 'times a \"factor\"'}"])
def test_every_calling_form_gives_the_same_numbers(
    tmp_path: Path, sources: str, functions: str
) -> None:
    answer = AT_MODULE_LEVEL.format(source=SCALE, sources=sources, functions=functions)
    x = torch.randn(5, 7)
    assert torch.equal(answered(tmp_path, answer, x), x * 3)


def test_a_parameter_can_be_passed_to_a_kernel_compiled_in_the_constructor(tmp_path: Path) -> None:
    out = answered(tmp_path, IN_CONSTRUCTOR.format(source=SCALE), torch.zeros(1))
    assert torch.equal(out, torch.full((2, 3), 6.0)) and not out.requires_grad


def test_own_bindings_take_keywords_and_defaults(tmp_path: Path) -> None:
    module = load(
        tmp_path,
        SCALE
        + """
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "kernels";
  m.def("scale", &scale, "scales", py::arg("x"), py::arg("factor") = 2.0,
        py::call_guard<py::gil_scoped_release>());
  m.def("size", [](const torch::Tensor& x, int64_t dim) { return x.size(dim); },
        py::arg("x"), py::arg("dim") = -1);
}
""",
    )
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(module.scale(x), x * 2)
    assert torch.equal(module.scale(factor=4, x=x), x * 4)
    assert (module.size(x), module.size(x, 0)) == (3, 2)
    assert (module.__doc__, module.scale.__doc__) == ("kernels", "scales")
    for wrong in ((), (x, "3"), (x, 1.0, 2.0)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            module.scale(*wrong)
    with pytest.raises(TypeError):
        module.scale(x, faktor=3.0)


def test_a_failed_check_is_a_runtime_error_with_its_text(tmp_path: Path) -> None:
    module = load(tmp_path, SCALE, "scale")
    with pytest.raises(RuntimeError, match=r"x must be contiguous, its strides are \[1, 7\]"):
        module.scale(torch.randn(5, 7).t(), 1.0)


def test_a_build_is_quick_and_an_artefact_is_reused(tmp_path: Path) -> None:
    sources = record("k", SCALE + "// timed", functions="scale")
    started = processor_s()
    first = BACKEND.build(sources, tmp_path)
    assert first.headers == "slim" and not first.cached
    assert processor_s() - started < 3, "0.4 s on an idle machine"
    again = BACKEND.build(sources, tmp_path)
    assert again.cached and again.path == first.path
    assert [path.name for path in tmp_path.iterdir()] == [first.path.name]


@pytest.mark.skipif(shutil.which("ld.gold") is None, reason="needs ld.gold")
def test_a_gold_that_links_is_used(tmp_path: Path) -> None:
    assert gold_links("g++", tmp_path, ("-I", str(HEADERS)), str(CpuBackend().prepare().library))
    assert CpuBackend().prepare().linker == (GOLD,)
    assert list(tmp_path.iterdir()) == []


def test_a_gold_that_does_not_link_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin" / "ld.gold"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    compiler = tmp_path / "bin" / "g++"  # a GCC that finds that gold first
    compiler.write_text(f'#!/bin/sh\nexec {shutil.which("g++")} -B{broken.parent} "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    backend = CpuBackend(cache=tmp_path / "cache")
    artefact = backend.build(
        Sources(name="k", cpp=(SCALE,), functions=(("scale", ""),)), tmp_path / "out"
    )
    assert backend.prepare().linker == ()
    assert artefact.path.is_file()


def test_a_compiler_error_names_the_line_of_the_source(tmp_path: Path) -> None:
    with pytest.raises(BuildError) as caught:
        load(tmp_path, ["int a;", "int f(int x) {\n  return x + missing;\n}"], "f")
    text = str(caught.value)
    assert "cpp_sources[1]:2:" in text and "missing" in text and "/" not in text


def test_a_function_that_is_bound_but_not_defined_does_not_build(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="undefined reference"):
        load(tmp_path, "torch::Tensor f(torch::Tensor x);", "f")
    with pytest.raises(BuildError, match="no functions are bound"):
        load(tmp_path, "int f() { return 1; }")


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return at::softmax(x, 1);", "softmax"),
        ("return torch::matmul(x, x);", "matmul"),
        ("return x.sum(0);", "sum"),
        ("return x + x;", "add"),
        ("return torch::nn::functional::gelu(x);", "gelu"),
    ],
)
def test_torch_compute_is_illegal_without_a_slow_build(
    tmp_path: Path, body: str, name: str
) -> None:
    started = processor_s()
    with pytest.raises(IllegalBuild, match=f"^aten:{name}$"):
        load(tmp_path, f"torch::Tensor f(torch::Tensor x) {{ {body} }}", "f")
    assert processor_s() - started < 6


def test_a_torch_name_that_does_not_exist_is_not_worth_a_slow_build(tmp_path: Path) -> None:
    started = processor_s()
    with pytest.raises(BuildError, match="fast_relu_kernel"):
        load(tmp_path, "torch::Tensor f(torch::Tensor x) { return x.fast_relu_kernel(); }", "f")
    assert processor_s() - started < 6


@pytest.mark.parametrize(
    ("source", "symbol"),
    [
        ("#include <dlfcn.h>\nint f() { return dlopen(0, 1) != 0; }", "dlopen"),
        ("#include <unistd.h>\nint f() { return fork(); }", "fork"),
        ("#include <unistd.h>\nint f() { return syscall(39); }", "syscall"),
        ("#include <sys/mman.h>\nint f() { return mprotect(0, 0, 0); }", "mprotect"),
        ("int f() { return system(\"ls\"); }", "system"),
        ("extern \"C\" int PyRun_Main(int);\nint f() { return PyRun_Main(0); }", "PyRun_Main"),
        ("#include <fstream>\nint f() { std::ifstream in(\"/etc/passwd\"); return in.get(); }",
         "fstream|filebuf"),
    ],
)  # fmt: skip
def test_an_object_that_leaves_the_kernel_s_world_is_illegal(
    tmp_path: Path, source: str, symbol: str
) -> None:
    with pytest.raises(IllegalBuild, match=f"^symbol:.*{symbol}"):
        load(tmp_path, source, "f")


def test_honest_use_of_threads_and_the_standard_library_is_legal(tmp_path: Path) -> None:
    module = load(
        tmp_path,
        """
#include <thread>
#include <map>
#include <random>
#include <mutex>
double f(const std::string& text, std::vector<double> list) {
  std::mutex lock;
  double total = 0;
  std::vector<std::thread> threads;
  for (double each : list) threads.emplace_back([&, each] {
    std::lock_guard<std::mutex> guard(lock);
    total += std::exp(each) + std::erf(each) + std::pow(each, 1.5f) + std::tgamma(each);
  });
  for (auto& thread : threads) thread.join();
  std::map<std::string, int> counts{{text, 1}};
  std::mt19937 engine(7);
  std::ostringstream out;
  out << total << std::uniform_real_distribution<float>()(engine);
  std::printf("%s", "");
  std::sort(list.begin(), list.end(), std::greater<>());
  std::unique_ptr<float[]> scratch(new float[64]());
  static double cache = std::log1p(2.0);
  return total * counts[text] + 0 * cache + scratch[0];
}
""",
        "f",
    )
    terms = (math.exp(1), math.erf(1), 1.0, 1.0)
    assert module.f("a", [1.0]) == pytest.approx(sum(terms))


@pytest.mark.parametrize(
    "line",
    [
        '#include "/etc/passwd"',
        '#include "../secret.h"',
        '#  include </etc/hostname>',
        '#define WHERE "/etc/passwd"\n#include WHERE',
        '%: include "/etc/passwd"',
        '#inc\\\nlude "/etc/passwd"',
        '#if __has_include("/etc/passwd")\n#endif',
        'asm(".inc" "bin \\"/etc/passwd\\"");',
    ],
)  # fmt: skip
def test_a_source_cannot_read_files(tmp_path: Path, line: str) -> None:
    with pytest.raises(BuildError):
        load(tmp_path, f"{line}\nint f() {{ return 1; }}", "f")


def test_flags_that_would_change_what_is_linked_are_dropped(tmp_path: Path) -> None:
    flags = ["-O2 -mavx2", "-I/root", "-lopenblas", "-Wl,-rpath,/x", "-DN=3", "-fplugin=x.so"]
    sources = record("k", "int f() { return N; }", functions="f", extra_cflags=flags)
    assert BACKEND.dropped_flags(sources) == (
        "-I/root", "-lopenblas", "-Wl,-rpath,/x", "-fplugin=x.so",
    )  # fmt: skip
    assert BACKEND.load(BACKEND.build(sources, tmp_path)).f() == 3


def test_cuda_sources_do_not_build_here(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="cuda_sources"):
        BACKEND.build(record("k", "int f();", "__global__ void g() {}", functions="f"), tmp_path)


def test_fast_math_leaves_subnormals_on_in_the_process(tmp_path: Path) -> None:
    module = load(tmp_path, SCALE, "scale", extra_cflags=["-ffast-math"])
    assert module.scale(torch.ones(1), 1.0).item() == 1
    assert torch.tensor([1e-40]).mul(0.5).item() > 0


@pytest.mark.slow
def test_more_of_torch_than_slim_has_is_built_against_torch_s_headers(tmp_path: Path) -> None:
    source = """
torch::Tensor f(torch::Tensor x, py::dict options) {
  TORCH_CHECK(!x.is_sparse(), "dense only");
  auto out = torch::empty_like(x);
  const auto from = x.contiguous();
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float value = from.data_ptr<float>()[i];
    out.data_ptr<float>()[i] = value * options["factor"].cast<float>();
  }
  return out.view({-1});
}
"""
    artefact = BACKEND.build(record("k", source, functions="f"), tmp_path)
    assert artefact.headers == "full"
    x = torch.randn(3, 4)
    assert torch.equal(BACKEND.load(artefact).f(x, {"factor": 2.0}), x.flatten() * 2)
    assert BACKEND.build(record("k", source, functions="f"), tmp_path).cached


@pytest.mark.slow
def test_compute_in_a_build_against_torch_s_headers_is_illegal(tmp_path: Path) -> None:
    source = """
#include <torch/nn.h>
torch::Tensor f(torch::Tensor x) { return torch::softmax(x, 1); }
"""
    with pytest.raises(IllegalBuild, match=r"^aten:softmax"):
        BACKEND.build(record("k", source, functions="f"), tmp_path)
