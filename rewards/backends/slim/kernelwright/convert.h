// C++ types of a bound function's parameters and results, to and from `Value`.
#ifndef KERNELWRIGHT_CONVERT_H
#define KERNELWRIGHT_CONVERT_H

#include "factory.h"

namespace kernelwright {

template <typename T, typename = void>
struct Convert {
  static_assert(sizeof(T) == 0, "kernelwright_no_conversion: this type needs torch's own binding");
};

template <Kind K>
struct Plain {
  static constexpr Type type{K, 0, nullptr};
};

template <>
struct Convert<bool> : Plain<KIND_BOOL> {
  static bool in(const Value& value) { return value.i != 0; }
  static Value out(bool value) {
    Value v{};
    v.kind = KIND_BOOL, v.i = value;
    return v;
  }
};

template <typename T>
struct Convert<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>>
    : Plain<KIND_INT> {
  static T in(const Value& value) {
    if constexpr (sizeof(T) < 8)
      TORCH_CHECK_TYPE(value.i >= std::numeric_limits<T>::min() &&
                           value.i <= static_cast<int64_t>(std::numeric_limits<T>::max()),
                       "integer argument ", value.i, " out of range");
    return static_cast<T>(value.i);
  }
  static Value out(T value) { return integer(static_cast<int64_t>(value)); }
};

template <typename T>
struct Convert<T, std::enable_if_t<std::is_floating_point_v<T>>> : Plain<KIND_DOUBLE> {
  static T in(const Value& value) { return static_cast<T>(value.d); }
  static Value out(T value) {
    Value v{};
    v.kind = KIND_DOUBLE, v.d = static_cast<double>(value);
    return v;
  }
};

template <>
struct Convert<c10::Scalar> : Plain<KIND_SCALAR> {
  static c10::Scalar in(const Value& value) {
    if (value.kind == KIND_DOUBLE) return value.d;
    if (value.kind == KIND_BOOL) return value.i != 0;
    return value.i;
  }
  static Value out(const c10::Scalar& value) { return value.value(); }
};

Value text_value(const char* text, size_t n, Kind kind = KIND_STRING);
Value list_value(size_t n, Kind kind);

template <>
struct Convert<std::string> : Plain<KIND_STRING> {
  static std::string in(const Value& value) { return {value.text, static_cast<size_t>(value.n)}; }
  static Value out(const std::string& value) { return text_value(value.data(), value.size()); }
};
template <>
struct Convert<std::string_view> : Convert<std::string> {
  static std::string_view in(const Value& value) {
    return {value.text, static_cast<size_t>(value.n)};
  }
};
template <>
struct Convert<const char*> : Convert<std::string> {
  static const char* in(const Value& value) { return value.text; }
};

template <>
struct Convert<at::Tensor> : Plain<KIND_TENSOR> {
  // The binding's new reference becomes the tensor's.
  static at::Tensor in(Value& value) {
    if (value.kind == KIND_NONE) return {};
    return at::Tensor(wrap(*value.tensor, std::exchange(value.object, nullptr)));
  }
  static Value out(const at::Tensor& value) { return value_of(value); }
};

template <typename T>
struct Convert<std::optional<T>> {
  static constexpr Type type{Convert<T>::type.kind, 1, Convert<T>::type.item};
  static std::optional<T> in(Value& value) {
    if (value.kind == KIND_NONE) return std::nullopt;
    return Convert<T>::in(value);
  }
  static Value out(const std::optional<T>& value) {
    return value ? Convert<T>::out(*value) : Value{};
  }
};
template <>
struct Convert<std::nullopt_t> {
  static Value out(std::nullopt_t) { return {}; }
};

template <typename T>
struct Convert<std::vector<T>> {
  static constexpr Type type{KIND_LIST, 0, &Convert<T>::type};
  static std::vector<T> in(Value& value) {
    std::vector<T> out;
    out.reserve(static_cast<size_t>(value.n));
    for (int64_t i = 0; i < value.n; ++i) out.push_back(Convert<T>::in(value.items[i]));
    return out;
  }
  static Value out(const std::vector<T>& list) {
    Value v = list_value(list.size(), KIND_LIST);
    for (size_t i = 0; i < list.size(); ++i) v.items[i] = Convert<T>::out(list[i]);
    return v;
  }
};

template <typename T, size_t N>
struct Convert<std::array<T, N>> {
  static constexpr Type type{KIND_LIST, 0, &Convert<T>::type};
  static std::array<T, N> in(Value& value) {
    TORCH_CHECK_TYPE(value.n == static_cast<int64_t>(N), "expected ", N, " items, got ", value.n);
    std::array<T, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = Convert<T>::in(value.items[i]);
    return out;
  }
  static Value out(const std::array<T, N>& list) {
    Value v = list_value(N, KIND_LIST);
    for (size_t i = 0; i < N; ++i) v.items[i] = Convert<T>::out(list[i]);
    return v;
  }
};

// An ArrayRef parameter borrows from a vector that outlives the call.
template <typename T>
struct Convert<c10::ArrayRef<T>> : Convert<std::vector<T>> {};

template <typename... Ts>
struct Convert<std::tuple<Ts...>> {
  static Value out(const std::tuple<Ts...>& value) {
    Value v = list_value(sizeof...(Ts), KIND_TUPLE);
    std::apply(
        [&](const auto&... part) {
          size_t i = 0;
          ((v.items[i++] = Convert<std::decay_t<decltype(part)>>::out(part)), ...);
        },
        value);
    return v;
  }
};
template <typename A, typename B>
struct Convert<std::pair<A, B>> {
  static Value out(const std::pair<A, B>& value) {
    return Convert<std::tuple<A, B>>::out({value.first, value.second});
  }
};

}  // namespace kernelwright

#endif
