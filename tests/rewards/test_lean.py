"""The lean header has every name it is trusted with; anything else gets the whole header."""

import subprocess
from pathlib import Path

import pytest

from kernelwright.rewards.backend import Sources
from kernelwright.rewards.backends import lean, slim_kit
from kernelwright.rewards.backends.compiler import BASE, find_compiler
from kernelwright.rewards.backends.load_inline import record


def source(text: str) -> Sources:
    return record("extension", [text], functions=["f"])


def test_the_lean_header_has_every_name_that_it_is_trusted_with(tmp_path: Path) -> None:
    kit = slim_kit.prepare()
    lines = [f"using std::{name};" for name in sorted(lean.NAMES)]
    includes = [f"#include <{name}>" for name in sorted(lean.HEADERS)]
    text = "\n".join([f"#include <{slim_kit.LEAN_HEADER}>", "namespace trial {", *lines, "}"])
    file = tmp_path / "main.cpp"
    file.write_text("\n".join([text, *includes, ""]))
    command = [str(find_compiler()), *BASE, "-march=native", *kit.includes, "-fsyntax-only"]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "__m256 f(const float* x) { return _mm256_loadu_ps(x); }",
        "int f() { std::map<int, int> seen; return seen.size(); }",
        "using namespace std; int f() { map<int, int> seen; return seen.size(); }",
        "int f() { std :: thread one([] {}); one.join(); return 0; }",
        "#include <unordered_map>\nint f() { return 0; }",
        'int f() { TORCH_WARN("slow"); return 0; }',
        "double f(double x) { return std::cyl_bessel_j(0.0, x); }",
    ],
)
def test_a_source_that_takes_more_gets_the_whole_header(text: str) -> None:
    assert not lean.is_lean(source(text))


def test_a_usual_kernel_gets_the_lean_header() -> None:
    text = """#include <torch/extension.h>
#include <cmath>
#include <vector>
torch::Tensor f(torch::Tensor x) {
  auto y = torch::empty_like(x);
  #pragma omp parallel for
  for (int64_t i = 0; i < x.numel(); i++)
    y.data_ptr<float>()[i] = std::max(std::exp(x.data_ptr<float>()[i]), 0.0f);
  return y;
}"""
    assert lean.is_lean(source(text))
