"""The slim tensor behaves as torch's where it exists: views, copies, conversions, ownership."""

import gc
from pathlib import Path
from typing import Any

import pytest
import torch

from kernelwright.rewards.backends.cpu import CpuBackend
from kernelwright.rewards.backends.load_inline import record

SOURCE = r"""
#include <torch/all.h>
#include <ATen/ATen.h>
#include <c10/util/Half.h>
#include <pybind11/stl.h>
using namespace torch;

std::vector<torch::Tensor> views(const at::Tensor& x) {  // x: 2 x 3 x 4
  return {x.view({6, -1}), x.reshape({4, 6}), x.flatten(1), x.transpose(0, -1),
          x.permute({2, 0, 1}),
          x.unsqueeze(-1), x.unsqueeze(0).squeeze(0), x.select(1, -1), x.slice(2, 1, 4, 2),
          x.narrow(0, 1, 1), x[1], x.select(0, 0).t(), x.unsqueeze(0).expand({5, -1, -1, -1}),
          x.as_strided({2, 2}, {4, 1}, 3), x.squeeze(), x.transpose(1, 2).reshape({2, 12}),
          x.permute({1, 0, 2}).flatten(1, 2), x.detach()};
}
std::vector<torch::Tensor> copies(torch::Tensor x) {
  auto filled = torch::empty({2, 2}, torch::dtype(torch::kFloat64).device(torch::kCPU));
  filled.fill_(2.5);
  auto target = torch::zeros({3, 2}, x.options());
  target.copy_(x.t());
  auto big = torch::zeros({64, 64}, torch::TensorOptions().dtype(torch::kInt64));
  auto part = torch::ones_like(x);
  part.select(0, 0).zero_();
  return {x.t().contiguous(), x.clone(), x.to(torch::kFloat64), x.to(torch::kBFloat16),
          x.to(torch::kInt32), x.t().to(torch::kHalf), filled, target, big, part,
          torch::full({2}, 7, torch::kLong), torch::full_like(x, 1.5), torch::zeros_like(x),
          torch::tensor({1, 2, 3}), torch::ones({}, torch::kBool), torch::empty({0, 3})};
}
torch::Tensor same(torch::Tensor x) { return x.contiguous().to(x.dtype()).to(torch::kCPU); }
torch::Tensor row(torch::Tensor x) { return torch::empty_like(x).fill_(3).select(0, 1); }
std::tuple<torch::Tensor, torch::Tensor, int64_t, std::string> twice(torch::Tensor x) {
  auto y = torch::empty_like(x);
  y.fill_(1);
  return {y, y, y.numel(), c10::str(y.sizes(), y.dtype(), y.device())};
}
c10::optional<Tensor> maybe(const c10::optional<Tensor>& x, torch::optional<double> d) {
  if (x.has_value() && x->defined()) return *x;
  return c10::nullopt;
}
double total(torch::TensorList list, IntArrayRef sizes, std::vector<double> more, Scalar s) {
  double sum = s.toDouble() + (s.isFloatingPoint() ? 0.5 : 0);
  for (const auto& x : list) sum += x.item<float>();
  for (auto n : sizes) sum += n;
  for (auto d : more) sum += d;
  return sum;
}
std::string facts(torch::Tensor x) {
  std::ostringstream out;
  out << x.dim() << x.sizes() << x.strides() << ' ' << x.dtype() << ' ' << x.scalar_type() << ' '
      << x.device() << ' ' << x.is_contiguous() << x.is_cpu() << x.is_cuda() << ' ' << x.nbytes()
      << ' ' << x.element_size() << ' ' << x.requires_grad() << ' ' << (x.sizes() == x.sizes())
      << (x.dtype() == torch::kFloat32) << (x.scalar_type() != at::ScalarType::Double)
      << (x.device() == torch::Device(torch::kCPU)) << (x.options().dtype() == x.dtype())
      << x.sizes().vec().size() << x.size(-1);
  return out.str();
}
torch::Tensor typed(torch::Tensor x) {
  auto out = torch::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.type(), "typed", [&] {
    auto* to = out.data_ptr<scalar_t>();
    const auto* from = x.data_ptr<scalar_t>();
    at::parallel_for(0, x.numel(), 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = from[i] * static_cast<scalar_t>(2) + from[i];
    });
  });
  return out;
}
torch::Tensor indexed(torch::Tensor x) {
  auto out = torch::zeros({x.size(1), x.size(0)});
  auto from = x.accessor<float, 2>();
  auto to = out.packed_accessor32<float, 2, torch::RestrictPtrTraits>();
  for (int i = 0; i < from.size(0); ++i)
    for (int j = 0; j < from.size(1); ++j) to[j][i] = from[i][j];
  return out;
}
torch::Tensor stash(torch::Tensor x) {
  static torch::Tensor kept;
  if (!kept.defined()) kept = x;
  return kept;
}
void in_place(torch::Tensor& x) { x.mutable_data_ptr<float>()[0] = 9; }
torch::Tensor thrown(int kind) {
  if (kind == 0) throw std::invalid_argument("plain");
  if (kind == 1) TORCH_CHECK_VALUE(false, "value ", 3);
  if (kind == 2) return torch::empty({-1});
  if (kind == 3)
    at::parallel_for(0, 100000, 1, [](int64_t, int64_t) { TORCH_CHECK(false, "inside"); });
  TORCH_CHECK(kind == 4);
  AT_ERROR("last");
}
"""
NAMES = "views copies same row twice maybe total facts typed indexed stash in_place thrown"


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    backend = CpuBackend()
    workdir: Path = tmp_path_factory.mktemp("slim")
    return backend.load(backend.build(record("k", SOURCE, functions=NAMES.split()), workdir))


def test_views_are_torch_s_views(module: Any) -> None:
    x = torch.randn(2, 3, 4)
    expected = [
        x.view(6, -1), x.reshape(4, 6), x.flatten(1), x.transpose(0, -1), x.permute(2, 0, 1),
        x.unsqueeze(-1), x, x.select(1, -1), x[:, :, 1:4:2], x.narrow(0, 1, 1), x[1], x[0].t(),
        x.unsqueeze(0).expand(5, -1, -1, -1), x.as_strided((2, 2), (4, 1), 3), x.squeeze(),
        x.transpose(1, 2).reshape(2, 12), x.permute(1, 0, 2).flatten(1, 2), x,
    ]  # fmt: skip
    for got, want in zip(module.views(x), expected, strict=True):
        assert torch.equal(got, want)
        if want.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
            assert got.data_ptr() == want.data_ptr() and got.stride() == want.stride()


def test_copies_and_fills_are_torch_s(module: Any) -> None:
    x = torch.randn(2, 3)
    part = torch.ones(2, 3)
    part[0] = 0
    expected = [
        x.t().contiguous(), x, x.double(), x.bfloat16(), x.int(), x.t().half(),
        torch.full((2, 2), 2.5, dtype=torch.float64), x.t(), torch.zeros(64, 64, dtype=torch.long),
        part, torch.full((2,), 7), torch.full_like(x, 1.5), torch.zeros_like(x),
        torch.tensor([1, 2, 3], dtype=torch.int32), torch.tensor(True), torch.empty(0, 3),
    ]  # fmt: skip
    for got, want in zip(module.copies(x), expected, strict=True):
        assert got.dtype == want.dtype and torch.equal(got, want)


def test_an_input_comes_back_as_the_same_object(module: Any) -> None:
    for x in (torch.randn(3), torch.nn.Parameter(torch.randn(3))):
        assert module.same(x) is x
    first, second, count, text = module.twice(torch.zeros(2, 2))
    assert first is second and count == 4 and text == "[2, 2]Floatcpu"


def test_a_view_keeps_its_base_alive(module: Any) -> None:
    row = module.row(torch.zeros(2, 4))
    gc.collect()
    torch.zeros(2, 4)
    assert torch.equal(row, torch.full((4,), 3.0))
    views = module.views(torch.full((2, 3, 4), 5.0))
    gc.collect()
    assert all(bool((view == 5).all()) for view in views)


def test_a_tensor_kept_by_the_kernel_stays_valid(module: Any) -> None:
    kept = module.stash(torch.full((1000,), 4.0))
    pointer = kept.data_ptr()
    del kept
    gc.collect()
    again = module.stash(torch.zeros(1))
    assert again.data_ptr() == pointer and bool((again == 4).all())


def test_inputs_are_not_leaked(module: Any) -> None:
    import sys

    x = torch.randn(4, 4)
    before = sys.getrefcount(x)
    for _ in range(50):
        module.same(x)
        module.views(torch.randn(2, 3, 4))
        module.total([x[0, :1], x[0, :1]], [1], [0.5], 1)
        with pytest.raises(TypeError):
            module.total([x, 3], [1], [0.5], 1)
    assert sys.getrefcount(x) == before


def test_optionals_lists_and_scalars_cross(module: Any) -> None:
    x = torch.ones(1)
    assert module.maybe(x, None) is x
    assert module.maybe(None, 2.0) is None
    assert module.total([x, x], (2, 3), [0.5], 1) == 8.5
    assert module.total([], torch.Size([4]), [1], 2.0) == 7.5
    for wrong in ([[x], [1.5], [], 1], [None, [1], [], 1], [[None], [1], [], 1]):
        with pytest.raises(TypeError):
            module.total(*wrong)


def test_facts_are_torch_s(module: Any) -> None:
    assert module.facts(torch.zeros(2, 3).t()) == (
        "2[3, 2][1, 3] float Float cpu 010 24 4 0 1111122".replace(" float ", " Float ")
    )
    assert " 1 1" in module.facts(torch.nn.Parameter(torch.zeros(2)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_dispatch_reaches_every_type(module: Any, dtype: torch.dtype) -> None:
    x = torch.randn(1000).to(dtype)
    got = module.typed(x)
    assert got.dtype == dtype
    torch.testing.assert_close(got, x * 3, rtol=2e-2, atol=1e-2)
    with pytest.raises(NotImplementedError, match="\"typed\" not implemented for 'Int'"):
        module.typed(torch.zeros(2, dtype=torch.int32))


def test_half_and_bfloat_round_as_torch_does(module: Any) -> None:
    x = torch.cat([torch.randn(500) * 10.0**e for e in range(-9, 6)])
    for dtype in (torch.float16, torch.bfloat16):
        y = x.to(dtype)
        two = (y.float() * 2).to(dtype)
        expected = (two.float() + y.float()).to(dtype)
        assert torch.equal(module.typed(y), expected)


def test_accessors_follow_strides(module: Any) -> None:
    x = torch.randn(5, 3).t()
    assert torch.equal(module.indexed(x), x.t())


def test_a_kernel_may_write_its_input(module: Any) -> None:
    x = torch.zeros(2)
    assert module.in_place(x) is None and x[0] == 9


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [
        (0, RuntimeError, "plain"),
        (1, ValueError, "value 3"),
        (2, RuntimeError, "negative dimension"),
        (3, RuntimeError, "inside"),
        (5, RuntimeError, "Expected kind == 4 to be true"),
        (4, RuntimeError, "last"),
    ],
)
def test_exceptions_keep_kind_and_text(
    module: Any, kind: int, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        module.thrown(kind)


def test_the_wrong_dtype_is_told(module: Any) -> None:
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        module.indexed(torch.zeros(2, 2, dtype=torch.float64))
