// Who owns a tensor's memory, and its shape: the reference counts under `at::Tensor`.
#ifndef KERNELWRIGHT_STORAGE_H
#define KERNELWRIGHT_STORAGE_H

#include "array.h"

namespace kernelwright {

// One per object: set before anything in it is called.
extern const Runtime* runtime;
[[noreturn]] void fail_in_runtime();

// Memory is either a Python tensor's or a managed tensor's that no Python tensor owns yet.
struct Storage {
  std::atomic<int64_t> references{1};
  void* object;
  Managed* managed;

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release();
};

struct Shape {
  std::atomic<int64_t> references{1};
  Storage* storage;
  void* data;
  c10::ScalarType type;
  bool is_base;  // exactly what the storage's owner describes, not a view of it
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
};

Shape* new_shape(int32_t ndim);
c10::ScalarType scalar_type(uint8_t code, uint8_t bits);
void describe(c10::ScalarType type, RawTensor& raw);
int32_t dlpack_device(c10::DeviceType type);
// Takes over the reference to `object`, or `managed`.
Shape* wrap(const RawTensor& raw, void* object, Managed* managed);
// A view's memory for Python: it keeps the shape, and so the storage, alive.
Managed* hand_over(Shape* shape);

}  // namespace kernelwright

#endif
