// What a candidate's `#include <torch/extension.h>` means here: tensors without operators.
#ifndef KERNELWRIGHT_EXTENSION_H
#define KERNELWRIGHT_EXTENSION_H

#include "bind.h"
#include "dispatch.h"
#include "parallel.h"

namespace at {
struct NoGradGuard {
  NoGradGuard() {}
};
struct AutoGradMode {
  explicit AutoGradMode(bool) {}
};
template <typename T>
using acc_type_t =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
template <typename T, bool>
using acc_type = std::conditional_t<std::is_same_v<T, float>, double, acc_type_t<T>>;
template <typename T>
using opmath_type = acc_type_t<T>;
}  // namespace at

namespace c10 {
struct InferenceMode {
  explicit InferenceMode(bool = true) {}
};
using at::Tensor;

template <typename T>
class IntegerRange {
 public:
  struct iterator {
    T at;
    T operator*() const { return at; }
    iterator& operator++() { return ++at, *this; }
    bool operator==(const iterator& other) const { return at == other.at; }
  };
  IntegerRange(T begin, T end) : begin_(begin), end_(std::max(begin, end)) {}
  iterator begin() const { return {begin_}; }
  iterator end() const { return {end_}; }

 private:
  T begin_, end_;
};
template <typename T>
IntegerRange<T> irange(T end) {
  return {T{0}, end};
}
template <typename A, typename B>
IntegerRange<B> irange(A begin, B end) {
  return {static_cast<B>(begin), end};
}

template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
T multiply_integers(const std::vector<T>& list) {
  return std::accumulate(list.begin(), list.end(), T{1}, std::multiplies<>());
}
}  // namespace c10

namespace torch {
using namespace at;
using at::Tensor;
using c10::Device;
using c10::nullopt;
using c10::optional;
using Dtype = c10::ScalarType;
using c10::DeviceType;
inline TensorOptions dtype(c10::ScalarType type) { return TensorOptions(type); }
inline TensorOptions dtype(caffe2::TypeMeta type) { return TensorOptions(type); }
inline TensorOptions device(c10::Device where) { return TensorOptions(where); }
inline TensorOptions requires_grad(bool wanted = true) {
  return TensorOptions().requires_grad(wanted);
}
inline TensorOptions layout(c10::Layout) { return {}; }
template <typename F>
F wrap_pybind_function(F&& function) {
  return std::forward<F>(function);
}
namespace headeronly {
using namespace c10;
}
}  // namespace torch

#endif
