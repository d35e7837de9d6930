// Allocation, and the copies and fills that torch does for us through the runtime table.
#include "../kernelwright/factory.h"

namespace kernelwright {

Value value_of(const at::Tensor& tensor) {
  Value out{};
  if (!tensor.defined()) return out;
  Shape* shape = tensor.shape();
  Storage* storage = shape->storage;
  out.kind = KIND_TENSOR;
  if (!shape->is_base) {
    out.managed = hand_over(shape);
  } else if (storage->object) {
    runtime->retain(storage->object);
    out.object = storage->object;
  } else if (shape->references.load() == 1 && storage->references.load() == 1) {
    out.managed = std::exchange(storage->managed, nullptr);
  } else {
    // Someone else still holds it: let Python own the memory from now on, one object for all.
    storage->object = runtime->adopt(std::exchange(storage->managed, nullptr));
    if (!storage->object) fail_in_runtime();
    runtime->retain(storage->object);
    out.object = storage->object;
  }
  return out;
}

at::Tensor plumb(Plumbing what, std::initializer_list<Value> arguments) {
  std::vector<Value> list(arguments);
  Value result{};
  if (runtime->plumb(what, list.data(), static_cast<int64_t>(list.size()), &result))
    fail_in_runtime();
  if (result.kind != KIND_TENSOR) return {};
  return at::Tensor(wrap(*result.tensor, result.object, nullptr));
}

// Only for arguments of `plumb`: a view, so that the tensor's own memory does not change owners.
Value lent(const at::Tensor& tensor) {
  return tensor.shape()->storage->object ? value_of(tensor) : value_of(tensor.detach());
}

Value integer(int64_t value) {
  Value out{};
  out.kind = KIND_INT, out.i = value;
  return out;
}

at::Tensor allocate(c10::IntArrayRef sizes, const c10::TensorOptions& options) {
  int64_t numel = 1;
  for (int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
    numel *= size;
  }
  RawTensor raw{};
  raw.device_type = dlpack_device(options.device().type());
  raw.device_id = std::max<int>(options.device().index(), 0);
  raw.ndim = static_cast<int32_t>(sizes.size());
  raw.sizes = const_cast<int64_t*>(sizes.data());
  describe(options.dtype().toScalarType(), raw);
  Managed* managed = runtime->allocate(&raw);
  if (!managed) fail_in_runtime();
  return at::Tensor(wrap(managed->tensor, nullptr, managed));
}

}  // namespace kernelwright

namespace at {

bool Tensor::requires_grad() const {
  auto value = kernelwright::lent(*this);
  kernelwright::Value result{};
  if (kernelwright::runtime->plumb(kernelwright::PLUMBING_REQUIRES_GRAD, &value, 1, &result))
    kernelwright::fail_in_runtime();
  return result.i != 0;
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return shape()->contiguous;
  const bool deep = format == MemoryFormat::ChannelsLast3d;
  if (dim() != (deep ? 5 : 4)) return false;
  auto last = deep ? permute({0, 2, 3, 4, 1}) : permute({0, 2, 3, 1});
  return last.is_contiguous();
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  if (is_contiguous(format)) return *this;
  TORCH_CHECK(format == MemoryFormat::Contiguous, "contiguous(): only the default memory format");
  return kernelwright::plumb(kernelwright::PLUMBING_CONTIGUOUS, {kernelwright::lent(*this)});
}

Tensor Tensor::clone(optional<MemoryFormat>) const {
  return kernelwright::plumb(kernelwright::PLUMBING_CLONE, {kernelwright::lent(*this)});
}

const Tensor& Tensor::copy_(const Tensor& source, bool) const {
  kernelwright::plumb(kernelwright::PLUMBING_COPY, {kernelwright::lent(*this), kernelwright::lent(source)});
  return *this;
}
Tensor& Tensor::copy_(const Tensor& source, bool) {
  std::as_const(*this).copy_(source);
  return *this;
}

const Tensor& Tensor::fill_(const Scalar& value) const {
  // Small zero fills are not worth a call into Python.
  if (is_cpu() && is_contiguous() && nbytes() <= 4096 && value.toDouble() == 0 && !shape_->storage->object)
    std::memset(data_ptr(), 0, nbytes());
  else
    kernelwright::plumb(kernelwright::PLUMBING_FILL, {kernelwright::lent(*this), value.value()});
  return *this;
}
Tensor& Tensor::fill_(const Scalar& value) {
  std::as_const(*this).fill_(value);
  return *this;
}

Tensor Tensor::to(Device where, ScalarType type, bool, bool copy) const {
  const bool there = where.type() == shape()->device_type &&
                     (!where.has_index() || where.index() == shape_->device_index || where.is_cpu());
  if (there && type == scalar_type()) return copy ? clone() : *this;
  using kernelwright::integer;
  return kernelwright::plumb(kernelwright::PLUMBING_CONVERT,
                             {kernelwright::lent(*this), integer(static_cast<int>(type)),
                              integer(static_cast<int>(where.type())), integer(where.index())});
}
Tensor Tensor::to(ScalarType type, bool non_blocking, bool copy) const {
  return to(device(), type, non_blocking, copy);
}
Tensor Tensor::to(Device where, bool non_blocking, bool copy) const {
  return to(where, scalar_type(), non_blocking, copy);
}

Scalar Tensor::number() const {
  TORCH_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  const Tensor here = cpu();
  switch (here.scalar_type()) {
#define KERNELWRIGHT_ITEM(type, name, number, code, bits)                                         \
  case ScalarType::name:                                                                          \
    return Scalar(*static_cast<type*>(here.data_ptr()));
    KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
    default:
      kernelwright::fail(kernelwright::ERROR_TYPE, "item() of an undefined type");
  }
}

Tensor empty(IntArrayRef sizes, const TensorOptions& options,
                    optional<MemoryFormat>) {
  return kernelwright::allocate(sizes, options);
}
Tensor zeros(IntArrayRef sizes, const TensorOptions& options) {
  return empty(sizes, options).zero_();
}
Tensor ones(IntArrayRef sizes, const TensorOptions& options) {
  return empty(sizes, options).fill_(1);
}
Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options) {
  return empty(sizes, options).fill_(value);
}
Tensor full(IntArrayRef sizes, const Scalar& value) {
  return full(sizes, value, value.isFloatingPoint() ? kFloat : value.type());
}

// Dense tensors keep their order of strides, as torch's do.
Tensor empty_like(const Tensor& like, const TensorOptions& options, optional<MemoryFormat>) {
  if (like.is_contiguous() || like.dim() < 2) return empty(like.sizes(), options);
  std::vector<int64_t> order(like.dim());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return like.stride(a) > like.stride(b); });
  const auto dense = like.permute(order);
  if (!dense.is_contiguous()) return empty(like.sizes(), options);
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int64_t>(i);
  return empty(dense.sizes(), options).permute(back);
}
Tensor empty_like(const Tensor& like) { return empty_like(like, like.options()); }
Tensor zeros_like(const Tensor& like, const TensorOptions& options) {
  return empty_like(like, options).zero_();
}
Tensor zeros_like(const Tensor& like) { return zeros_like(like, like.options()); }
Tensor ones_like(const Tensor& like, const TensorOptions& options) {
  return empty_like(like, options).fill_(1);
}
Tensor ones_like(const Tensor& like) { return ones_like(like, like.options()); }
Tensor full_like(const Tensor& like, const Scalar& value, const TensorOptions& options) {
  return empty_like(like, options).fill_(value);
}
Tensor full_like(const Tensor& like, const Scalar& value) {
  return full_like(like, value, like.options());
}

Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  int64_t span = 1;
  for (size_t i = 0; i < sizes.size(); ++i) span += sizes[i] ? (sizes[i] - 1) * strides[i] : 0;
  return empty({span}, options).as_strided(sizes, strides);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  return out << "[ " << tensor.scalar_type() << tensor.sizes() << " ]";
}

}  // namespace at
