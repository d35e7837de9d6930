// Indexing by brackets over raw memory.
#ifndef KERNELWRIGHT_ACCESSOR_H
#define KERNELWRIGHT_ACCESSOR_H

#include "types.h"

namespace at {

template <typename T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits,
          typename Index = int64_t>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  Index size(Index d) const { return sizes_[d]; }
  Index stride(Index d) const { return strides_[d]; }
  T* data() const { return data_; }
  decltype(auto) operator[](Index i) const {
    if constexpr (N == 1)
      return static_cast<T&>(data_[i * strides_[0]]);
    else
      return TensorAccessor<T, N - 1, Traits, Index>(data_ + i * strides_[0], sizes_ + 1,
                                                     strides_ + 1);
  }

 private:
  T* data_;
  const Index* sizes_;
  const Index* strides_;
};

// Holds its sizes and strides itself, so that it can be passed by value.
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits,
          typename Index = int64_t>
class PackedTensorAccessor {
 public:
  PackedTensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    std::copy(sizes, sizes + N, sizes_);
    std::copy(strides, strides + N, strides_);
  }
  Index size(Index d) const { return sizes_[d]; }
  Index stride(Index d) const { return strides_[d]; }
  T* data() const { return data_; }
  decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, Traits, Index>(data_, sizes_, strides_)[i];
  }

 private:
  T* data_;
  Index sizes_[N];
  Index strides_[N];
};

template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = PackedTensorAccessor<T, N, Traits, int32_t>;
template <typename T, size_t N, template <typename> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = PackedTensorAccessor<T, N, Traits, int64_t>;

}  // namespace at

#endif
