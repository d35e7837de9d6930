// Reference counts and shapes under `at::Tensor`.
#include "../kernelwright/storage.h"

namespace kernelwright {

const Runtime* runtime = nullptr;

void fail_in_runtime() { raise(ERROR_RUNTIME, runtime->error()); }

void Shape::destroy() {
  if (base)
    base->release();
  else
    runtime->release(object);
  this->~Shape();
  std::free(this);
}

void Shape::settle() {
  numel = 1;
  for (int32_t i = 0; i < ndim; ++i) numel *= sizes()[i];
  contiguous = true;
  int64_t expected = 1;
  for (int32_t i = ndim - 1; i >= 0 && numel; --i) {
    if (sizes()[i] != 1 && strides()[i] != expected) contiguous = false;
    expected *= sizes()[i];
  }
}

Described Shape::described() {
  return {data,
          sizes(),
          strides(),
          ndim,
          static_cast<int8_t>(type),
          static_cast<int8_t>(device_type),
          device_index};
}

Shape* new_shape(int32_t ndim) {
  void* memory = std::malloc(sizeof(Shape) + 2 * sizeof(int64_t) * static_cast<size_t>(ndim));
  if (!memory) throw std::bad_alloc();
  Shape* shape = new (memory) Shape;
  shape->ndim = ndim;
  return shape;
}

Shape* wrap(const Described& tensor, void* object) {
  Shape* shape = new_shape(tensor.ndim);
  shape->base = nullptr;
  shape->object = object;
  shape->data = tensor.data;
  shape->type = static_cast<c10::ScalarType>(tensor.type);
  shape->device_type = static_cast<c10::DeviceType>(tensor.device_type);
  shape->device_index = tensor.device_index;
  std::copy(tensor.sizes, tensor.sizes + tensor.ndim, shape->sizes());
  std::copy(tensor.strides, tensor.strides + tensor.ndim, shape->strides());
  shape->settle();
  return shape;
}

}  // namespace kernelwright
