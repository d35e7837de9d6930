// The table that candidates' objects call back into: allocation and torch's own tensor plumbing.
// No operator that computes is reachable through it.
#ifndef KERNELWRIGHT_BINDING_RUNTIME_H
#define KERNELWRIGHT_BINDING_RUNTIME_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <ATen/core/Tensor.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <string>

#include "../kernelwright/abi.h"

namespace kernelwright {

inline thread_local std::string last_error;

inline at::Tensor borrowed_copy(void* object) {
  auto* impl = static_cast<c10::TensorImpl*>(object);
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(impl));
}
inline at::Tensor owned(void* object) {
  return at::Tensor(
      c10::intrusive_ptr<c10::TensorImpl>::reclaim(static_cast<c10::TensorImpl*>(object)));
}

inline void describe(const at::Tensor& tensor, Described& out) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  out.data = tensor.mutable_data_ptr();  // throws where there is none, as in sparse tensors
  out.sizes = impl->sizes().data();
  out.strides = impl->strides().data();
  out.ndim = static_cast<int32_t>(impl->dim());
  out.type = static_cast<int8_t>(tensor.scalar_type());
  const c10::Device device = impl->device();
  out.device_type = static_cast<int8_t>(device.type());
  out.device_index = device.index();
}

inline at::TensorOptions options(const Described& wanted) {
  const auto device = static_cast<c10::DeviceType>(wanted.device_type);
  return at::TensorOptions(static_cast<c10::ScalarType>(wanted.type))
      .device(c10::Device(device, device == c10::kCPU ? -1 : wanted.device_index));
}
inline at::IntArrayRef sizes(const Described& wanted) {
  return {wanted.sizes, static_cast<size_t>(wanted.ndim)};
}

// Runs `body`; its failure becomes `last_error` and `fallback`.
template <typename R, typename F>
R guarded(R fallback, F&& body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    last_error = error.what_without_backtrace();
  } catch (const std::exception& error) {
    last_error = error.what();
  }
  return fallback;
}

inline void* allocate(const Described* wanted, Described* out) {
  return guarded<void*>(nullptr, [&]() -> void* {
    at::Tensor tensor = at::empty(sizes(*wanted), options(*wanted));
    describe(tensor, *out);
    return tensor.unsafeReleaseTensorImpl();
  });
}

inline void* view(void* object, const Described* wanted) {
  return guarded<void*>(nullptr, [&]() -> void* {
    const at::Tensor base = borrowed_copy(object);
    const auto shift =
        (static_cast<char*>(wanted->data) - static_cast<char*>(base.mutable_data_ptr())) /
        static_cast<int64_t>(base.element_size());
    const at::IntArrayRef strides(wanted->strides, static_cast<size_t>(wanted->ndim));
    return base.as_strided(sizes(*wanted), strides, base.storage_offset() + shift)
        .unsafeReleaseTensorImpl();
  });
}

inline void* blob(const Described* wanted, void (*deleter)(void*), void* context, Described* out) {
  return guarded<void*>(nullptr, [&]() -> void* {
    at::Tensor tensor = at::from_blob(
        wanted->data, sizes(*wanted), [=](void*) { deleter(context); }, options(*wanted));
    describe(tensor, *out);
    return tensor.unsafeReleaseTensorImpl();
  });
}

inline at::Scalar scalar(const Value& value) {
  if (value.kind == KIND_DOUBLE) return value.d;
  if (value.kind == KIND_BOOL) return value.i != 0;
  return value.i;
}

inline int plumb(int32_t what, Value* arguments, int64_t count, Value* result, Described* out) {
  at::Tensor tensors[2];
  for (int64_t i = 0; i < count; ++i)
    if (arguments[i].kind == KIND_TENSOR && i < 2) tensors[i] = owned(arguments[i].object);
  return guarded<int>(-1, [&] {
    at::Tensor& self = tensors[0];
    TORCH_CHECK(self.defined(), "tensor is undefined");
    at::Tensor made;
    if (what == PLUMBING_REQUIRES_GRAD) {
      result->kind = KIND_BOOL;
      result->i = self.requires_grad();
      return 0;
    }
    if (what == PLUMBING_CONTIGUOUS)
      made = self.contiguous();
    else if (what == PLUMBING_CLONE)
      made = self.clone();
    else if (what == PLUMBING_COPY && count == 2)
      made = self.copy_(tensors[1]);
    else if (what == PLUMBING_FILL && count == 2)
      made = self.fill_(scalar(arguments[1]));
    else if (what == PLUMBING_CONVERT && count == 4)
      made = self.to(
          options({nullptr, nullptr, nullptr, 0, static_cast<int8_t>(arguments[1].i),
                   static_cast<int8_t>(arguments[2].i), static_cast<int8_t>(arguments[3].i)}));
    TORCH_CHECK(made.defined(), "no such plumbing");
    describe(made, *out);
    result->kind = KIND_TENSOR;
    result->object = made.unsafeReleaseTensorImpl();
    return 0;
  });
}

inline void retain(void* object) {
  c10::raw::intrusive_ptr::incref(static_cast<c10::TensorImpl*>(object));
}
inline void release(void* object) {
  // After the interpreter is gone, a candidate's statics are left to the operating system.
  if (object && Py_IsInitialized()) owned(object);
}

inline const Runtime table{ABI_VERSION, allocate, view,    blob,
                           plumb,       retain,   release, [] { return last_error.c_str(); }};

}  // namespace kernelwright

#endif
