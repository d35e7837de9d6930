// The AT_DISPATCH macros: one switch over scalar types that defines `scalar_t`.
#ifndef KERNELWRIGHT_DISPATCH_H
#define KERNELWRIGHT_DISPATCH_H

#include "tensor.h"

namespace detail {
inline c10::ScalarType scalar_type(c10::ScalarType type) { return type; }
inline c10::ScalarType scalar_type(const at::TypeProperties& type) { return type.type; }
inline c10::ScalarType scalar_type(caffe2::TypeMeta type) { return type.toScalarType(); }
}  // namespace detail

namespace c10::impl {
template <ScalarType>
struct ScalarTypeToCPPType;
#define KERNELWRIGHT_ITEM(ctype, name, number)   \
  template <>                                    \
  struct ScalarTypeToCPPType<ScalarType::name> { \
    using type = ctype;                          \
  };
KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
template <ScalarType N>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<N>::type;
}  // namespace c10::impl

#define AT_DISPATCH_CASE(enum_type, ...)                                          \
  case enum_type: {                                                               \
    using scalar_t [[maybe_unused]] = c10::impl::ScalarTypeToCPPTypeT<enum_type>; \
    return __VA_ARGS__();                                                         \
  }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                        \
  [&] {                                                                            \
    const c10::ScalarType kernelwright_type = ::detail::scalar_type(TYPE);         \
    switch (kernelwright_type) {                                                   \
      __VA_ARGS__                                                                  \
      default:                                                                     \
        ::kernelwright::fail(::kernelwright::ERROR_NOT_IMPLEMENTED, "", '"', NAME, \
                             "\" not implemented for '", kernelwright_type, '\''); \
    }                                                                              \
  }()

#define KERNELWRIGHT_FLOATING(...)                       \
  AT_DISPATCH_CASE(c10::ScalarType::Double, __VA_ARGS__) \
  AT_DISPATCH_CASE(c10::ScalarType::Float, __VA_ARGS__)
#define KERNELWRIGHT_INTEGRAL(...)                     \
  AT_DISPATCH_CASE(c10::ScalarType::Byte, __VA_ARGS__) \
  AT_DISPATCH_CASE(c10::ScalarType::Char, __VA_ARGS__) \
  AT_DISPATCH_CASE(c10::ScalarType::Int, __VA_ARGS__)  \
  AT_DISPATCH_CASE(c10::ScalarType::Long, __VA_ARGS__) \
  AT_DISPATCH_CASE(c10::ScalarType::Short, __VA_ARGS__)

#define AT_DISPATCH_CASE_FLOATING_TYPES(...) KERNELWRIGHT_FLOATING(__VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) KERNELWRIGHT_INTEGRAL(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) \
  KERNELWRIGHT_INTEGRAL(__VA_ARGS__) KERNELWRIGHT_FLOATING(__VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, KERNELWRIGHT_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_FLOATING_TYPES_AND(c10::ScalarType::Half, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                           \
                     KERNELWRIGHT_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...)                           \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                         \
                     KERNELWRIGHT_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                         AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...)               \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                          \
                     AT_DISPATCH_CASE(c10::ScalarType::Half, __VA_ARGS__) \
                         AT_DISPATCH_CASE(c10::ScalarType::BFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, KERNELWRIGHT_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME,                      \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...)                                     \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                              \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                         AT_DISPATCH_CASE(B, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, TYPE, NAME, ...)                                  \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                              \
                     AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__) \
                         AT_DISPATCH_CASE(B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                               \
  [&] {                                                                        \
    const c10::ScalarType kernelwright_type = ::detail::scalar_type(TYPE);     \
    if (kernelwright_type == c10::ScalarType::Int) {                           \
      using index_t = int32_t;                                                 \
      return __VA_ARGS__();                                                    \
    }                                                                          \
    if (kernelwright_type == c10::ScalarType::Long) {                          \
      using index_t = int64_t;                                                 \
      return __VA_ARGS__();                                                    \
    }                                                                          \
    ::kernelwright::fail(::kernelwright::ERROR_NOT_IMPLEMENTED, "", '"', NAME, \
                         "\" not implemented for '", kernelwright_type, '\''); \
  }()

#endif
