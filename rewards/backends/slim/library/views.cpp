// Tensor views: new shapes over the same memory.
#include "../kernelwright/tensor.h"

namespace kernelwright {

at::Tensor view_of(const at::Tensor& tensor, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                   int64_t shift) {
  Shape* base = tensor.shape();
  Shape* shape = new_shape(static_cast<int32_t>(sizes.size()));
  shape->type = base->type;
  shape->device_type = base->device_type;
  shape->device_index = base->device_index;
  shape->data =
      static_cast<char*>(base->data) + shift * static_cast<int64_t>(c10::elementSize(base->type));
  std::copy(sizes.begin(), sizes.end(), shape->sizes());
  std::copy(strides.begin(), strides.end(), shape->strides());
  shape->settle();
  shape->base = base->base ? base->base : base;
  shape->base->retain();
  shape->object = nullptr;
  return at::Tensor(shape);
}

std::vector<int64_t> contiguous_strides(c10::IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

std::vector<int64_t> inferred(c10::IntArrayRef sizes, int64_t numel) {
  std::vector<int64_t> out = sizes.vec();
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == -1) {
      TORCH_CHECK(open < 0, "only one dimension can be inferred");
      open = static_cast<int64_t>(i);
    } else
      known *= out[i];
  }
  if (open >= 0 && known > 0 && numel % known == 0) out[open] = numel / known, known *= out[open];
  TORCH_CHECK(known == numel, "shape '", sizes, "' is invalid for input of size ", numel);
  return out;
}

// Strides that show `tensor` as `sizes` without copying, if there are any.
std::optional<std::vector<int64_t>> view_strides(const at::Tensor& tensor,
                                                 const std::vector<int64_t>& sizes) {
  if (tensor.is_contiguous() || tensor.numel() == 0) return contiguous_strides(sizes);
  std::vector<int64_t> strides(sizes.size());
  int64_t to = static_cast<int64_t>(sizes.size()) - 1, chunk = 1, shown = 1;
  int64_t base = tensor.dim() ? tensor.strides().back() : 1;
  for (int64_t from = tensor.dim() - 1; from >= 0; --from) {
    chunk *= tensor.size(from);
    if (from > 0 && (tensor.size(from - 1) == 1 || tensor.stride(from - 1) == chunk * base))
      continue;
    while (to >= 0 && (shown < chunk || sizes[to] == 1)) {
      strides[to] = shown * base;
      shown *= sizes[to--];
    }
    if (shown != chunk) return std::nullopt;
    if (from > 0) base = tensor.stride(from - 1), chunk = shown = 1;
  }
  if (to != -1) return std::nullopt;
  return strides;
}

}  // namespace kernelwright

namespace at {

Tensor Tensor::as_strided(IntArrayRef sizes, IntArrayRef strides, optional<int64_t> offset) const {
  TORCH_CHECK(sizes.size() == strides.size(), "as_strided: sizes and strides differ in length");
  return kernelwright::view_of(*this, sizes, strides, offset.value_or(0));
}

Tensor Tensor::view(IntArrayRef sizes) const {
  const auto wanted = kernelwright::inferred(sizes, numel());
  const auto strides = kernelwright::view_strides(*this, wanted);
  TORCH_CHECK(strides,
              "view size is not compatible with input tensor's size and stride (at least one "
              "dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
  return kernelwright::view_of(*this, wanted, *strides, 0);
}

Tensor Tensor::reshape(IntArrayRef sizes) const {
  const auto wanted = kernelwright::inferred(sizes, numel());
  const auto strides = kernelwright::view_strides(*this, wanted);
  return strides ? kernelwright::view_of(*this, wanted, *strides, 0) : contiguous().view(wanted);
}

Tensor Tensor::flatten(int64_t first, int64_t last) const {
  first = wrapped(first), last = wrapped(last);
  TORCH_CHECK(first <= last, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (dim() == 0) return reshape({1});
  std::vector<int64_t> out(sizes().begin(), sizes().begin() + first);
  int64_t joined = 1;
  for (int64_t d = first; d <= last; ++d) joined *= size(d);
  out.push_back(joined);
  out.insert(out.end(), sizes().begin() + last + 1, sizes().end());
  return reshape(out);
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
  auto size = sizes().vec(), stride = strides().vec();
  a = wrapped(a), b = wrapped(b);
  if (!size.empty()) std::swap(size[a], size[b]), std::swap(stride[a], stride[b]);
  return kernelwright::view_of(*this, size, stride, 0);
}

Tensor Tensor::t() const {
  TORCH_CHECK(dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", dim(), "D");
  return dim() < 2 ? detach() : transpose(0, 1);
}

Tensor Tensor::permute(IntArrayRef order) const {
  TORCH_CHECK(static_cast<int64_t>(order.size()) == dim(), "permute: wrong number of dimensions");
  std::vector<int64_t> size, stride;
  std::set<int64_t> seen;
  for (int64_t d : order) {
    d = wrapped(d);
    TORCH_CHECK(seen.insert(d).second, "permute(): duplicate dims are not allowed.");
    size.push_back(sizes()[d]), stride.push_back(strides()[d]);
  }
  return kernelwright::view_of(*this, size, stride, 0);
}

Tensor Tensor::unsqueeze(int64_t d) const {
  d = wrapped(d, 1);
  auto size = sizes().vec(), stride = strides().vec();
  stride.insert(stride.begin() + d, d < dim() ? size[d] * stride[d] : 1);
  size.insert(size.begin() + d, 1);
  return kernelwright::view_of(*this, size, stride, 0);
}

Tensor Tensor::squeeze() const {
  std::vector<int64_t> size, stride;
  for (int64_t d = 0; d < dim(); ++d)
    if (sizes()[d] != 1) size.push_back(sizes()[d]), stride.push_back(strides()[d]);
  return kernelwright::view_of(*this, size, stride, 0);
}

Tensor Tensor::squeeze(int64_t d) const {
  d = wrapped(d);
  auto size = sizes().vec(), stride = strides().vec();
  if (!size.empty() && size[d] == 1) size.erase(size.begin() + d), stride.erase(stride.begin() + d);
  return kernelwright::view_of(*this, size, stride, 0);
}

Tensor Tensor::select(int64_t d, int64_t index) const {
  TORCH_CHECK_INDEX(dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  d = wrapped(d);
  TORCH_CHECK_INDEX(index >= -size(d) && index < size(d), "index ", index,
                    " is out of bounds for dimension ", d, " with size ", size(d));
  auto size = sizes().vec(), stride = strides().vec();
  const int64_t shift = (index < 0 ? index + size[d] : index) * stride[d];
  size.erase(size.begin() + d), stride.erase(stride.begin() + d);
  return kernelwright::view_of(*this, size, stride, shift);
}

Tensor Tensor::slice(int64_t d, optional<int64_t> from, optional<int64_t> to, int64_t step) const {
  TORCH_CHECK(dim() > 0 && step > 0, "slice(): needs a dimension and a positive step");
  d = wrapped(d);
  const int64_t n = size(d);
  int64_t start = from.value_or(0), end = to.value_or(n);
  start = std::clamp<int64_t>(start < 0 ? start + n : start, 0, n);
  end = std::clamp<int64_t>(end < 0 ? end + n : end, start, n);
  auto size = sizes().vec(), stride = strides().vec();
  const int64_t shift = start * stride[d];
  size[d] = (end - start + step - 1) / step, stride[d] *= step;
  return kernelwright::view_of(*this, size, stride, shift);
}

Tensor Tensor::expand(IntArrayRef wanted) const {
  auto size = wanted.vec();
  std::vector<int64_t> stride(size.size(), 0);
  const int64_t extra = static_cast<int64_t>(size.size()) - dim();
  TORCH_CHECK(extra >= 0,
              "expand: the number of sizes must not be less than the tensor's dimensions");
  for (int64_t d = 0; d < dim(); ++d) {
    auto& out = size[d + extra];
    if (out == -1) out = sizes()[d];
    TORCH_CHECK(out == sizes()[d] || sizes()[d] == 1, "The expanded size of the tensor (", out,
                ") must match the existing size (", sizes()[d], ") at non-singleton dimension ", d);
    stride[d + extra] = out == sizes()[d] ? strides()[d] : 0;
  }
  return kernelwright::view_of(*this, size, stride, 0);
}

}  // namespace at
