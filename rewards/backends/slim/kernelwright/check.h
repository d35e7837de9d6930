// Errors and the TORCH_CHECK family. An error thrown here becomes the Python exception of its kind.
#ifndef KERNELWRIGHT_CHECK_H
#define KERNELWRIGHT_CHECK_H

#include "abi.h"
#include "standard.h"

namespace c10 {

class Error : public std::exception {
 public:
  explicit Error(std::string text, kernelwright::Error kind = kernelwright::ERROR_RUNTIME)
      : text_(std::move(text)), kind_(kind) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const char* what_without_backtrace() const noexcept { return text_.c_str(); }
  const std::string& msg() const { return text_; }
  kernelwright::Error kind() const { return kind_; }

 private:
  std::string text_;
  kernelwright::Error kind_;
};

}  // namespace c10

namespace kernelwright {

// Text put together without instantiating streams in every candidate.
class Message {
 public:
  Message& operator<<(const char* part);
  Message& operator<<(const std::string& part);
  Message& operator<<(char part);
  Message& operator<<(bool part);
  Message& operator<<(double part);
  Message& operator<<(long long part);
  Message& operator<<(unsigned long long part);
  template <typename T>
  Message& operator<<(const T& part) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      return *this << static_cast<long long>(part);
    else if constexpr (std::is_integral_v<T>)
      return *this << static_cast<unsigned long long>(part);
    else if constexpr (std::is_floating_point_v<T>)
      return *this << static_cast<double>(part);
    else if constexpr (std::is_convertible_v<const T&, const char*>)
      return *this << static_cast<const char*>(part);
    else if constexpr (requires { append(*this, part); })
      return append(*this, part);
    else {
      std::ostringstream out;
      out << part;
      return *this << out.str();
    }
  }
  std::string text;
};

[[noreturn]] void raise(Error kind, std::string text);

template <typename... Parts>
[[noreturn]] __attribute__((noinline, cold)) void fail(Error kind, const char* fallback,
                                                       const Parts&... parts) {
  if constexpr (sizeof...(parts) == 0)
    raise(kind, fallback);
  else {
    Message message;
    (message << ... << parts);
    raise(kind, std::move(message.text));
  }
}

}  // namespace kernelwright

namespace c10 {
template <typename... Parts>
std::string str(const Parts&... parts) {
  kernelwright::Message message;
  (message << ... << parts);
  return message.text;
}
}  // namespace c10

#define KERNELWRIGHT_CHECK(kind, condition, ...)                                               \
  do {                                                                                         \
    if (__builtin_expect(!static_cast<bool>(condition), 0))                                    \
      ::kernelwright::fail(::kernelwright::kind,                                               \
                           "Expected " #condition " to be true, but got false." __VA_OPT__(, ) \
                               __VA_ARGS__);                                                   \
  } while (false)

#define TORCH_CHECK(condition, ...) KERNELWRIGHT_CHECK(ERROR_RUNTIME, condition, __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) KERNELWRIGHT_CHECK(ERROR_VALUE, condition, __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) KERNELWRIGHT_CHECK(ERROR_INDEX, condition, __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) KERNELWRIGHT_CHECK(ERROR_TYPE, condition, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  KERNELWRIGHT_CHECK(ERROR_NOT_IMPLEMENTED, condition, __VA_ARGS__)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b), "Check failed: " #a " == " #b)
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b), "Check failed: " #a " != " #b)
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b), "Check failed: " #a " <= " #b)
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b), "Check failed: " #a " < " #b)
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b), "Check failed: " #a " >= " #b)
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b), "Check failed: " #a " > " #b)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) \
  do {                                                   \
    if (false) TORCH_CHECK(condition, __VA_ARGS__);      \
  } while (false)
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define AT_ERROR(...) \
  ::kernelwright::fail(::kernelwright::ERROR_RUNTIME, "" __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_WARN(...) std::cerr << ::c10::str("Warning: " __VA_OPT__(, ) __VA_ARGS__) << std::endl
#define TORCH_WARN_ONCE(...)                                               \
  do {                                                                     \
    static std::once_flag kernelwright_warned;                             \
    std::call_once(kernelwright_warned, [&] { TORCH_WARN(__VA_ARGS__); }); \
  } while (false)

#define C10_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define C10_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))
#define C10_RESTRICT __restrict
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_NOINLINE __attribute__((noinline))
#define C10_UNUSED __attribute__((unused))
#define C10_EXPORT __attribute__((visibility("default")))
#define C10_HOST_DEVICE
#define C10_HOST
#define C10_DEVICE
#define TORCH_API
#define C10_API

#endif
