// Shape and memory under `at::Tensor`, counted here; the memory itself is a tensor of torch's.
#ifndef KERNELWRIGHT_STORAGE_H
#define KERNELWRIGHT_STORAGE_H

#include "array.h"

namespace kernelwright {

// One per object: set before anything in it is called.
extern const Runtime* runtime;
[[noreturn]] void fail_in_runtime();

struct Shape {
  std::atomic<int64_t> references{1};
  Shape* base;   // of a view: the shape that holds the memory
  void* object;  // otherwise: torch's tensor
  void* data;
  c10::ScalarType type;
  c10::DeviceType device_type;
  int8_t device_index;
  bool contiguous;
  int32_t ndim;
  int64_t numel;
  int64_t* sizes() { return reinterpret_cast<int64_t*>(this + 1); }
  int64_t* strides() { return sizes() + ndim; }

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  void destroy();
  void settle();
  Described described();
};

Shape* new_shape(int32_t ndim);
// Takes over the reference to `object`.
Shape* wrap(const Described& tensor, void* object);

}  // namespace kernelwright

#endif
