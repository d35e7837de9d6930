// Allocation, and what the conversions of arguments and results need of tensors.
#ifndef KERNELWRIGHT_FACTORY_H
#define KERNELWRIGHT_FACTORY_H

#include "tensor.h"

namespace kernelwright {

// A tensor on its way out.
Value value_of(const at::Tensor& tensor);
Value integer(int64_t value);
at::Tensor blob(void* data, c10::IntArrayRef sizes, const c10::TensorOptions& options,
                void (*deleter)(void*), void* context);

}  // namespace kernelwright

namespace at {

template <typename T>
T Tensor::item() const {
  if constexpr (std::is_same_v<T, Scalar>)
    return number();
  else
    return number().template to<T>();
}

Tensor empty(IntArrayRef sizes, const TensorOptions& options = {},
             optional<MemoryFormat> format = {});
Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {});
Tensor ones(IntArrayRef sizes, const TensorOptions& options = {});
Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options);
Tensor full(IntArrayRef sizes, const Scalar& value);
Tensor empty_like(const Tensor& like, const TensorOptions& options, optional<MemoryFormat> = {});
Tensor empty_like(const Tensor& like);
Tensor zeros_like(const Tensor& like, const TensorOptions& options);
Tensor zeros_like(const Tensor& like);
Tensor ones_like(const Tensor& like, const TensorOptions& options);
Tensor ones_like(const Tensor& like);
Tensor full_like(const Tensor& like, const Scalar& value, const TensorOptions& options);
Tensor full_like(const Tensor& like, const Scalar& value);
Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});

// The tensor does not own `data`; `deleter` runs when its last holder is gone.
template <typename Deleter>
Tensor from_blob(void* data, IntArrayRef sizes, Deleter deleter,
                 const TensorOptions& options = {}) {
  struct Keep {
    Deleter deleter;
    void* data;
  };
  const auto drop = [](void* context) {
    auto* keep = static_cast<Keep*>(context);
    keep->deleter(keep->data);
    delete keep;
  };
  return kernelwright::blob(data, sizes, options, drop, new Keep{std::move(deleter), data});
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  return from_blob(data, sizes, [](void*) {}, options);
}

template <typename T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = CppTypeToScalarType<T>::value) {
  Tensor out = empty({static_cast<int64_t>(values.size())}, CppTypeToScalarType<T>::value);
  std::copy(values.begin(), values.end(), out.data_ptr<T>());
  return out.to(options);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values,
              const TensorOptions& options = CppTypeToScalarType<T>::value) {
  return tensor(ArrayRef<T>(values), options);
}
template <typename T>
Tensor tensor(const std::vector<T>& values,
              const TensorOptions& options = CppTypeToScalarType<T>::value) {
  return tensor(ArrayRef<T>(values), options);
}

}  // namespace at

#endif
