// Scalar types, devices, options and array references: what describes a tensor.
#ifndef KERNELWRIGHT_TYPES_H
#define KERNELWRIGHT_TYPES_H

#include "check.h"
#include "numbers.h"

namespace c10 {

// (C++ type, name, torch's number)
#define KERNELWRIGHT_SCALAR_TYPES(_) \
  _(uint8_t, Byte, 0)                \
  _(int8_t, Char, 1)                 \
  _(int16_t, Short, 2)               \
  _(int32_t, Int, 3)                 \
  _(int64_t, Long, 4)                \
  _(c10::Half, Half, 5)              \
  _(float, Float, 6)                 \
  _(double, Double, 7)               \
  _(bool, Bool, 11)                  \
  _(c10::BFloat16, BFloat16, 15)

enum class ScalarType : int8_t {
#define KERNELWRIGHT_ITEM(type, name, number) name = number,
  KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
      Undefined = 45,
};

template <typename T>
struct CppTypeToScalarType;

#define KERNELWRIGHT_ITEM(type, name, number)             \
  constexpr ScalarType k##name = ScalarType::name;        \
  template <>                                             \
  struct CppTypeToScalarType<type> {                      \
    static constexpr ScalarType value = ScalarType::name; \
  };
KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
template <>
struct CppTypeToScalarType<long long> : CppTypeToScalarType<int64_t> {};

constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong,
                     kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;

const char* toString(ScalarType type);

size_t elementSize(ScalarType type);

inline bool isFloatingType(ScalarType type) {
  return type == kHalf || type == kFloat || type == kDouble || type == kBFloat16;
}
inline bool isIntegralType(ScalarType type, bool include_bool = false) {
  return type == kByte || type == kChar || type == kShort || type == kInt || type == kLong ||
         (include_bool && type == kBool);
}
std::ostream& operator<<(std::ostream& out, ScalarType type);
kernelwright::Message& append(kernelwright::Message& out, ScalarType type);

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Meta = 14, PrivateUse1 = 20 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
using DeviceIndex = int8_t;

struct Device {
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(const std::string& text);
  Device(const char* text) : Device(std::string(text)) {}
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ != -1; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const { return !(*this == other); }
  std::string str() const;

 private:
  DeviceType type_;
  DeviceIndex index_;
};
std::ostream& operator<<(std::ostream& out, const Device& device);
std::ostream& operator<<(std::ostream& out, DeviceType type);
kernelwright::Message& append(kernelwright::Message& out, const Device& device);
kernelwright::Message& append(kernelwright::Message& out, DeviceType type);

enum class Layout : int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

}  // namespace c10

namespace caffe2 {

// What `Tensor::dtype` returns: a scalar type with a name.
class TypeMeta {
 public:
  TypeMeta(c10::ScalarType type = c10::ScalarType::Undefined) : type_(type) {}
  operator c10::ScalarType() const { return type_; }
  c10::ScalarType toScalarType() const { return type_; }
  size_t itemsize() const { return c10::elementSize(type_); }
  const char* name() const { return c10::toString(type_); }
  template <typename T>
  bool Match() const {
    return type_ == c10::CppTypeToScalarType<T>::value;
  }
  template <typename T>
  static TypeMeta Make() {
    return c10::CppTypeToScalarType<T>::value;
  }
  friend bool operator==(TypeMeta a, TypeMeta b) { return a.type_ == b.type_; }
  friend bool operator==(TypeMeta a, c10::ScalarType b) { return a.type_ == b; }
  friend std::ostream& operator<<(std::ostream& out, TypeMeta meta) { return out << meta.type_; }
  friend kernelwright::Message& append(kernelwright::Message& out, TypeMeta meta) {
    return out << meta.name();
  }

 private:
  c10::ScalarType type_;
};

}  // namespace caffe2

namespace c10 {

using nullopt_t = std::nullopt_t;
inline constexpr nullopt_t nullopt = std::nullopt;
using std::make_optional;
using std::optional;

inline ScalarType typeMetaToScalarType(caffe2::TypeMeta meta) { return meta.toScalarType(); }

template <typename T>
caffe2::TypeMeta scalarTypeOf() {
  return CppTypeToScalarType<T>::value;
}

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(caffe2::TypeMeta type) : type_(type.toScalarType()) {}
  TensorOptions(Device device) : device_(device), has_device_(true) {}
  TensorOptions(DeviceType device) : device_(device), has_device_(true) {}
  TensorOptions(Layout) {}
  TensorOptions(MemoryFormat) {}
  TensorOptions dtype(ScalarType type) const {
    auto copy = *this;
    copy.type_ = type;
    return copy;
  }
  TensorOptions dtype(caffe2::TypeMeta type) const { return dtype(type.toScalarType()); }
  TensorOptions dtype(std::nullopt_t) const { return dtype(ScalarType::Undefined); }
  TensorOptions device(Device device) const {
    auto copy = *this;
    copy.device_ = device, copy.has_device_ = true;
    return copy;
  }
  TensorOptions device(DeviceType type, DeviceIndex index) const {
    return device(Device(type, index));
  }
  TensorOptions layout(Layout) const { return *this; }
  TensorOptions pinned_memory(bool) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  TensorOptions requires_grad(bool wanted = true) const {
    TORCH_CHECK(!wanted, "a kernel's own tensors cannot require grad");
    return *this;
  }
  bool has_dtype() const { return type_ != ScalarType::Undefined; }
  bool has_device() const { return has_device_; }
  // These, and `base` where nothing was said.
  TensorOptions over(const TensorOptions& base) const {
    return TensorOptions(has_dtype() ? type_ : base.type_)
        .device(has_device_ ? device_ : base.device_);
  }
  caffe2::TypeMeta dtype() const { return has_dtype() ? type_ : kFloat; }
  Device device() const { return device_; }
  Layout layout() const { return kStrided; }
  bool requires_grad() const { return false; }

 private:
  ScalarType type_ = ScalarType::Undefined;
  Device device_ = Device(DeviceType::CPU);
  bool has_device_ = false;
};

}  // namespace c10

#endif
