// Half and BFloat16 as values that convert to and from float; arithmetic is done in float.
#ifndef KERNELWRIGHT_NUMBERS_H
#define KERNELWRIGHT_NUMBERS_H

#include "standard.h"

namespace kernelwright {

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float half_to_float(uint16_t half) {
#ifdef __F16C__
  using Halves = short __attribute__((vector_size(16)));
  return __builtin_ia32_vcvtph2ps(Halves{static_cast<short>(half)})[0];
#else
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t rest = half & 0x7fffu;
  if (rest >= 0x7c00u) return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  if (rest >= 0x400u) return float_of(sign | ((rest << 13) + 0x38000000u));
  const float tiny = static_cast<float>(rest) * 5.9604644775390625e-8f;  // 2^-24
  return sign ? -tiny : tiny;
#endif
}

inline uint16_t float_to_half(float value) {
#ifdef __F16C__
  using Floats = float __attribute__((vector_size(16)));
  return static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(Floats{value}, 0)[0]);
#else
  const uint32_t bits = bits_of(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const uint32_t rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return sign | 0x7e00u;
  if (rest >= 0x47800000u) return sign | 0x7c00u;
  if (rest < 0x38800000u)  // adding 0.5 aligns a subnormal half with float's last bits
    return sign | static_cast<uint16_t>(bits_of(float_of(rest) + 0.5f) - 0x3f000000u);
  return sign | static_cast<uint16_t>((rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13);
#endif
}

inline uint16_t float_to_bfloat(float value) {
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0u;
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace kernelwright

namespace c10 {

struct alignas(2) Half {
  uint16_t x;
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }
  Half() = default;
  constexpr Half(uint16_t bits, from_bits_t) : x(bits) {}
  Half(float value) : x(kernelwright::float_to_half(value)) {}
  operator float() const { return kernelwright::half_to_float(x); }
};

struct alignas(2) BFloat16 {
  uint16_t x;
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }
  BFloat16() = default;
  constexpr BFloat16(uint16_t bits, from_bits_t) : x(bits) {}
  BFloat16(float value) : x(kernelwright::float_to_bfloat(value)) {}
  operator float() const { return kernelwright::float_of(static_cast<uint32_t>(x) << 16); }
};

#define KERNELWRIGHT_ARITHMETIC(T, op)                                                        \
  inline T operator op(T a, T b) { return static_cast<float>(a) op static_cast<float>(b); }   \
  inline float operator op(T a, float b) { return static_cast<float>(a) op b; }               \
  inline float operator op(float a, T b) { return a op static_cast<float>(b); }               \
  inline double operator op(T a, double b) { return static_cast<float>(a) op b; }             \
  inline double operator op(double a, T b) { return a op static_cast<float>(b); }             \
  inline T operator op(T a, int b) { return static_cast<float>(a) op static_cast<float>(b); } \
  inline T operator op(int a, T b) { return static_cast<float>(a) op static_cast<float>(b); } \
  inline T& operator op## = (T & a, float b) { return a = static_cast<float>(a) op b; }

#define KERNELWRIGHT_ARITHMETICS(T) \
  KERNELWRIGHT_ARITHMETIC(T, +)     \
  KERNELWRIGHT_ARITHMETIC(T, -)     \
  KERNELWRIGHT_ARITHMETIC(T, *)     \
  KERNELWRIGHT_ARITHMETIC(T, /)     \
  inline T operator-(T a) { return -static_cast<float>(a); }

KERNELWRIGHT_ARITHMETICS(Half)
KERNELWRIGHT_ARITHMETICS(BFloat16)
#undef KERNELWRIGHT_ARITHMETICS
#undef KERNELWRIGHT_ARITHMETIC

}  // namespace c10

namespace std {

template <>
class numeric_limits<c10::Half> : public numeric_limits<float> {
 public:
  static constexpr c10::Half make(uint16_t bits) { return {bits, c10::Half::from_bits()}; }
  static constexpr c10::Half min() { return make(0x0400); }
  static constexpr c10::Half max() { return make(0x7bff); }
  static constexpr c10::Half lowest() { return make(0xfbff); }
  static constexpr c10::Half epsilon() { return make(0x1400); }
  static constexpr c10::Half infinity() { return make(0x7c00); }
  static constexpr c10::Half quiet_NaN() { return make(0x7e00); }
};

template <>
class numeric_limits<c10::BFloat16> : public numeric_limits<float> {
 public:
  static constexpr c10::BFloat16 make(uint16_t bits) { return {bits, c10::BFloat16::from_bits()}; }
  static constexpr c10::BFloat16 min() { return make(0x0080); }
  static constexpr c10::BFloat16 max() { return make(0x7f7f); }
  static constexpr c10::BFloat16 lowest() { return make(0xff7f); }
  static constexpr c10::BFloat16 epsilon() { return make(0x3c00); }
  static constexpr c10::BFloat16 infinity() { return make(0x7f80); }
  static constexpr c10::BFloat16 quiet_NaN() { return make(0x7fc0); }
};

}  // namespace std

#endif
