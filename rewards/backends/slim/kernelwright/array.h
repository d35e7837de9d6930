// ArrayRef and Scalar: borrowed sequences, and a number of any type.
#ifndef KERNELWRIGHT_ARRAY_H
#define KERNELWRIGHT_ARRAY_H

#include "types.h"

namespace c10 {

template <typename T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  constexpr ArrayRef() : data_(nullptr), size_(0) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* first, const T* last) : data_(first), size_(last - first) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  template <typename A>
  ArrayRef(const std::vector<T, A>& from) : data_(from.data()), size_(from.size()) {}
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& from) : data_(from.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&from)[N]) : data_(from), size_(N) {}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr ArrayRef(const std::initializer_list<T>& from)
      : data_(from.begin()), size_(from.size()) {}
#pragma GCC diagnostic pop
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* cbegin() const { return data_; }
  constexpr const T* cend() const { return data_ + size_; }
  auto rbegin() const { return std::reverse_iterator<const T*>(end()); }
  auto rend() const { return std::reverse_iterator<const T*>(begin()); }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  constexpr const T& operator[](size_t index) const { return data_[index]; }
  const T& at(size_t index) const {
    TORCH_CHECK_INDEX(index < size_, "ArrayRef: invalid index ", index, "; length ", size_);
    return data_[index];
  }
  ArrayRef slice(size_t start, size_t count) const {
    TORCH_CHECK(start + count <= size_, "ArrayRef: invalid slice");
    return {data_ + start, count};
  }
  ArrayRef slice(size_t start) const { return slice(start, size_ - start); }
  std::vector<T> vec() const { return {begin(), end()}; }
  bool equals(ArrayRef other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }
  friend bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }
  friend bool operator!=(ArrayRef a, ArrayRef b) { return !a.equals(b); }
  friend bool operator==(ArrayRef a, const std::vector<T>& b) { return a.equals(ArrayRef(b)); }
  template <typename Out>
  static Out& print(Out& out, ArrayRef list) {
    out << '[';
    for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
    out << ']';
    return out;
  }
  friend std::ostream& operator<<(std::ostream& out, ArrayRef list) { return print(out, list); }
  friend kernelwright::Message& append(kernelwright::Message& out, ArrayRef list) {
    return print(out, list);
  }

 private:
  const T* data_;
  size_t size_;
};

using IntArrayRef = ArrayRef<int64_t>;
extern template class ArrayRef<int64_t>;
template <typename T, unsigned N = 5>
class SmallVector : public std::vector<T> {
  using std::vector<T>::vector;
};

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>)
      kind_ = kernelwright::KIND_BOOL, i_ = value;
    else if constexpr (std::is_integral_v<T>)
      kind_ = kernelwright::KIND_INT, i_ = static_cast<int64_t>(value);
    else
      kind_ = kernelwright::KIND_DOUBLE, d_ = static_cast<double>(value);
  }
  Scalar(Half value) : Scalar(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}
  template <typename T>
  T to() const {
    if (kind_ == kernelwright::KIND_DOUBLE)
      return static_cast<T>(
          static_cast<std::conditional_t<std::is_arithmetic_v<T>, double, float>>(d_));
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<T>(i_);
    else
      return static_cast<T>(static_cast<float>(i_));
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }
  bool isFloatingPoint() const { return kind_ == kernelwright::KIND_DOUBLE; }
  bool isBoolean() const { return kind_ == kernelwright::KIND_BOOL; }
  bool isIntegral(bool include_bool = false) const {
    return kind_ == kernelwright::KIND_INT || (include_bool && isBoolean());
  }
  ScalarType type() const { return isFloatingPoint() ? kDouble : isBoolean() ? kBool : kLong; }
  kernelwright::Value value() const {
    kernelwright::Value out{};
    out.kind = kind_;
    if (isFloatingPoint())
      out.d = d_;
    else
      out.i = i_;
    return out;
  }

 private:
  kernelwright::Kind kind_;
  union {
    int64_t i_;
    double d_;
  };
};

}  // namespace c10

#endif
