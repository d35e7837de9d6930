// Allocation, and the copies and fills that torch does for us through the runtime table.
#include "../kernelwright/factory.h"

namespace kernelwright {

Value value_of(const at::Tensor& tensor) {
  Value out{};
  if (!tensor.defined()) return out;
  Shape* shape = tensor.shape();
  out.kind = KIND_TENSOR;
  if (shape->base) {
    const Described wanted = shape->described();
    out.object = runtime->view(shape->base->object, &wanted);
    if (!out.object) fail_in_runtime();
  } else {
    runtime->retain(shape->object);
    out.object = shape->object;
  }
  return out;
}

static at::Tensor plumb(Plumbing what, std::initializer_list<Value> arguments) {
  Value list[4], result{};
  std::copy(arguments.begin(), arguments.end(), list);
  Described out;
  if (runtime->plumb(what, list, static_cast<int64_t>(arguments.size()), &result, &out))
    fail_in_runtime();
  return result.kind == KIND_TENSOR ? at::Tensor(wrap(out, result.object)) : at::Tensor();
}

Value integer(int64_t value) {
  Value out{};
  out.kind = KIND_INT, out.i = value;
  return out;
}

static at::Tensor allocate(c10::IntArrayRef sizes, const c10::TensorOptions& options) {
  const Described wanted{nullptr,
                         sizes.data(),
                         nullptr,
                         static_cast<int32_t>(sizes.size()),
                         static_cast<int8_t>(options.dtype().toScalarType()),
                         static_cast<int8_t>(options.device().type()),
                         options.device().index()};
  Described out;
  void* object = runtime->allocate(&wanted, &out);
  if (!object) fail_in_runtime();
  return at::Tensor(wrap(out, object));
}

at::Tensor blob(void* data, c10::IntArrayRef sizes, const c10::TensorOptions& options,
                void (*deleter)(void*), void* context) {
  const Described wanted{data,
                         sizes.data(),
                         nullptr,
                         static_cast<int32_t>(sizes.size()),
                         static_cast<int8_t>(options.dtype().toScalarType()),
                         static_cast<int8_t>(options.device().type()),
                         options.device().index()};
  Described out;
  void* object = runtime->blob(&wanted, deleter, context, &out);
  if (!object) fail_in_runtime();
  return at::Tensor(wrap(out, object));
}

}  // namespace kernelwright

namespace at {

bool Tensor::requires_grad() const {
  auto value = kernelwright::value_of(*this);
  kernelwright::Value result{};
  kernelwright::Described unused;
  if (kernelwright::runtime->plumb(kernelwright::PLUMBING_REQUIRES_GRAD, &value, 1, &result,
                                   &unused))
    kernelwright::fail_in_runtime();
  return result.i != 0;
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve)
    return shape()->contiguous;
  const bool deep = format == MemoryFormat::ChannelsLast3d;
  if (dim() != (deep ? 5 : 4)) return false;
  auto last = deep ? permute({0, 2, 3, 4, 1}) : permute({0, 2, 3, 1});
  return last.is_contiguous();
}

Tensor Tensor::contiguous(MemoryFormat format) const {
  if (is_contiguous(format)) return *this;
  TORCH_CHECK(format == MemoryFormat::Contiguous, "contiguous(): only the default memory format");
  return kernelwright::plumb(kernelwright::PLUMBING_CONTIGUOUS, {kernelwright::value_of(*this)});
}

Tensor Tensor::clone(optional<MemoryFormat>) const {
  return kernelwright::plumb(kernelwright::PLUMBING_CLONE, {kernelwright::value_of(*this)});
}

const Tensor& Tensor::copy_(const Tensor& source, bool) const {
  kernelwright::plumb(kernelwright::PLUMBING_COPY,
                      {kernelwright::value_of(*this), kernelwright::value_of(source)});
  return *this;
}
Tensor& Tensor::copy_(const Tensor& source, bool) {
  std::as_const(*this).copy_(source);
  return *this;
}

const Tensor& Tensor::fill_(const Scalar& value) const {
  // Small zero fills are not worth a call into Python.
  if (is_cpu() && is_contiguous() && nbytes() <= 4096 && value.toDouble() == 0)
    std::memset(data_ptr(), 0, nbytes());
  else
    kernelwright::plumb(kernelwright::PLUMBING_FILL,
                        {kernelwright::value_of(*this), value.value()});
  return *this;
}
Tensor& Tensor::fill_(const Scalar& value) {
  std::as_const(*this).fill_(value);
  return *this;
}

Tensor Tensor::to(Device where, ScalarType type, bool, bool copy) const {
  const bool there =
      where.type() == shape()->device_type &&
      (!where.has_index() || where.index() == shape_->device_index || where.is_cpu());
  if (there && type == scalar_type()) return copy ? clone() : *this;
  using kernelwright::integer;
  return kernelwright::plumb(kernelwright::PLUMBING_CONVERT,
                             {kernelwright::value_of(*this), integer(static_cast<int>(type)),
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
#define KERNELWRIGHT_ITEM(type, name, number) \
  case ScalarType::name:                      \
    return Scalar(*static_cast<type*>(here.data_ptr()));
    KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
    default:
      kernelwright::fail(kernelwright::ERROR_TYPE, "item() of an undefined type");
  }
}

Tensor empty(IntArrayRef sizes, const TensorOptions& options, optional<MemoryFormat>) {
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
Tensor empty_like(const Tensor& like, const TensorOptions& given, optional<MemoryFormat>) {
  const TensorOptions options = given.over(like.options());
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
