// at::Tensor without operators: shape, memory, views and conversions; nothing that computes.
#ifndef KERNELWRIGHT_TENSOR_H
#define KERNELWRIGHT_TENSOR_H

#include "accessor.h"
#include "storage.h"

namespace at {

using namespace c10;
class Tensor;
using TensorList = ArrayRef<Tensor>;

// What the deprecated `Tensor::type` returns.
struct TypeProperties {
  ScalarType type;
  Device at;
  ScalarType scalarType() const { return type; }
  operator ScalarType() const { return type; }
  bool is_cuda() const { return at.is_cuda(); }
  bool is_cpu() const { return at.is_cpu(); }
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& other) : shape_(other.shape_) {
    if (shape_) shape_->retain();
  }
  Tensor(Tensor&& other) noexcept : shape_(std::exchange(other.shape_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(shape_, other.shape_);
    return *this;
  }
  ~Tensor() {
    if (shape_) shape_->release();
  }
  explicit Tensor(kernelwright::Shape* owned) : shape_(owned) {}
  kernelwright::Shape* shape() const {
    TORCH_CHECK(shape_, "tensor is undefined");
    return shape_;
  }

  bool defined() const { return shape_ != nullptr; }
  void reset() { *this = Tensor(); }
  bool is_same(const Tensor& other) const { return shape_ == other.shape_; }
  int64_t dim() const { return shape()->ndim; }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return shape()->numel; }
  IntArrayRef sizes() const { return {shape()->sizes(), static_cast<size_t>(shape()->ndim)}; }
  IntArrayRef strides() const { return {shape()->strides(), static_cast<size_t>(shape()->ndim)}; }
  int64_t size(int64_t d) const { return shape()->sizes()[wrapped(d)]; }
  int64_t stride(int64_t d) const { return shape()->strides()[wrapped(d)]; }
  size_t itemsize() const { return elementSize(scalar_type()); }
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  ScalarType scalar_type() const { return shape()->type; }
  caffe2::TypeMeta dtype() const { return scalar_type(); }
  TypeProperties type() const { return {scalar_type(), device()}; }
  Device device() const { return {shape()->device_type, shape()->device_index}; }
  DeviceIndex get_device() const { return shape()->device_index; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  Layout layout() const { return kStrided; }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool requires_grad() const;

  template <typename T>
  T* data_ptr() const {
    using Plain = std::remove_const_t<T>;
    TORCH_CHECK(scalar_type() == CppTypeToScalarType<Plain>::value, "expected scalar type ",
                CppTypeToScalarType<Plain>::value, " but found ", scalar_type());
    return static_cast<T*>(shape_->data);
  }
  void* data_ptr() const { return shape()->data; }
  template <typename T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  void* mutable_data_ptr() const { return data_ptr(); }
  template <typename T>
  const std::remove_const_t<T>* const_data_ptr() const {
    return data_ptr<std::remove_const_t<T>>();
  }
  const void* const_data_ptr() const { return data_ptr(); }
  template <typename T>
  T* data() const {
    return data_ptr<T>();
  }
  Tensor data() const { return detach(); }
  template <typename T = Scalar>
  T item() const;
  Scalar number() const;

  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() const {
    checked<T, N>();
    return {data_ptr<T>(), shape_->sizes(), shape_->strides()};
  }
  template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, Traits, int32_t> packed_accessor32() const {
    checked<T, N>();
    return {data_ptr<T>(), shape_->sizes(), shape_->strides()};
  }
  template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, Traits, int64_t> packed_accessor64() const {
    checked<T, N>();
    return {data_ptr<T>(), shape_->sizes(), shape_->strides()};
  }
  template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits,
            typename Index = int64_t>
  PackedTensorAccessor<T, N, Traits, Index> packed_accessor() const {
    checked<T, N>();
    return {data_ptr<T>(), shape_->sizes(), shape_->strides()};
  }

  // Views.
  Tensor as_strided(IntArrayRef sizes, IntArrayRef strides, optional<int64_t> offset = {}) const;
  Tensor view(IntArrayRef sizes) const;
  Tensor reshape(IntArrayRef sizes) const;
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
  Tensor flatten(int64_t first = 0, int64_t last = -1) const;
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor t() const;
  Tensor mT() const { return transpose(-2, -1); }
  Tensor permute(IntArrayRef order) const;
  Tensor unsqueeze(int64_t d) const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t d) const;
  Tensor select(int64_t d, int64_t index) const;
  Tensor slice(int64_t d = 0, optional<int64_t> start = {}, optional<int64_t> end = {},
               int64_t step = 1) const;
  Tensor narrow(int64_t d, int64_t start, int64_t length) const {
    return slice(d, start, start + length);
  }
  Tensor expand(IntArrayRef sizes) const;
  Tensor expand_as(const Tensor& other) const { return expand(other.sizes()); }
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor detach() const { return as_strided(sizes(), strides()); }
  Tensor alias() const { return detach(); }

  // Copies and fills: torch's own, so that what it would record it records.
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  Tensor clone(optional<MemoryFormat> format = {}) const;
  Tensor& copy_(const Tensor& source, bool non_blocking = false);
  const Tensor& copy_(const Tensor& source, bool non_blocking = false) const;
  Tensor& fill_(const Scalar& value);
  const Tensor& fill_(const Scalar& value) const;
  Tensor& zero_() { return fill_(0); }
  const Tensor& zero_() const { return fill_(0); }
  Tensor to(ScalarType type, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
  Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false) const;
  template <typename O, std::enable_if_t<std::is_same_v<O, TensorOptions>, int> = 0>
  Tensor to(O options, bool non_blocking = false, bool copy = false) const {
    const TensorOptions all = options.over(this->options());
    return to(all.device(), all.dtype().toScalarType(), non_blocking, copy);
  }
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor cpu() const { return to(Device(kCPU)); }
  Tensor cuda() const { return to(Device(kCUDA)); }

  int64_t wrapped(int64_t d, int64_t extra = 0) const {
    const int64_t n = dim() + extra;
    TORCH_CHECK_INDEX(d >= -std::max<int64_t>(n, 1) && d < std::max<int64_t>(n, 1),
                      "Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                      "], but got ", d, ")");
    return d < 0 ? d + n : d;
  }

 private:
  template <typename T, size_t N>
  void checked() const {
    TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N,
                " dims but tensor has ", dim());
  }
  kernelwright::Shape* shape_ = nullptr;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace at

#endif
