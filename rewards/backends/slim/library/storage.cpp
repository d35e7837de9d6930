// Reference counts and shapes under `at::Tensor`.
#include "../kernelwright/storage.h"

namespace kernelwright {

const Runtime* runtime = nullptr;

void fail_in_runtime() { raise(ERROR_RUNTIME, runtime->error()); }

void Storage::release() {
  if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (object) runtime->release(object);
  else if (managed) managed->deleter(managed);
  delete this;
}

void Shape::destroy() {
  storage->release();
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

Shape* new_shape(int32_t ndim) {
  void* memory = std::malloc(sizeof(Shape) + 2 * sizeof(int64_t) * static_cast<size_t>(ndim));
  if (!memory) throw std::bad_alloc();
  Shape* shape = new (memory) Shape;
  shape->ndim = ndim;
  return shape;
}

c10::ScalarType scalar_type(uint8_t code, uint8_t bits) {
#define KERNELWRIGHT_ITEM(type, name, number, dlpack, width) \
  if (code == (dlpack) && bits == (width)) return c10::ScalarType::name;
  KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
  fail(ERROR_TYPE, "", "no kernel type for DLPack type code ", int(code), " of ", int(bits), " bits");
}

void describe(c10::ScalarType type, RawTensor& raw) {
  raw.lanes = 1;
  switch (type) {
#define KERNELWRIGHT_ITEM(ctype, name, number, dlpack, width) \
  case c10::ScalarType::name:                                 \
    raw.code = (dlpack), raw.bits = (width);                  \
    return;
    KERNELWRIGHT_SCALAR_TYPES(KERNELWRIGHT_ITEM)
#undef KERNELWRIGHT_ITEM
    default:
      fail(ERROR_TYPE, "undefined scalar type");
  }
}

// DLPack numbers CPU 1 and CUDA 2; pinned host memory (3) is CPU memory.
c10::DeviceType device_type(int32_t dlpack) {
  return dlpack == 2 || dlpack == 13 ? c10::DeviceType::CUDA : c10::DeviceType::CPU;
}
int32_t dlpack_device(c10::DeviceType type) { return type == c10::DeviceType::CPU ? 1 : 2; }

Shape* wrap(const RawTensor& raw, void* object, Managed* managed) {
  Shape* shape = new_shape(raw.ndim);
  shape->type = scalar_type(raw.code, raw.bits);
  shape->data = static_cast<char*>(raw.data) + raw.byte_offset;
  shape->is_base = true;
  shape->device_type = device_type(raw.device_type);
  shape->device_index = shape->device_type == c10::DeviceType::CPU ? -1 : static_cast<int8_t>(raw.device_id);
  int64_t stride = 1;
  for (int32_t i = raw.ndim - 1; i >= 0; --i) {
    shape->sizes()[i] = raw.sizes[i];
    shape->strides()[i] = raw.strides ? raw.strides[i] : stride;
    stride *= raw.sizes[i];
  }
  shape->settle();
  shape->storage = new Storage{{1}, object, managed};
  return shape;
}

struct Handed : Managed {
  Shape* shape;
};

Managed* hand_over(Shape* shape) {
  auto* handed = new Handed;
  shape->retain();
  handed->shape = shape;
  handed->major = 1, handed->minor = 0;
  handed->context = nullptr, handed->flags = 0;
  handed->deleter = [](Managed* self) {
    static_cast<Handed*>(self)->shape->release();
    delete static_cast<Handed*>(self);
  };
  RawTensor& raw = handed->tensor;
  raw.data = shape->data;
  raw.device_type = dlpack_device(shape->device_type);
  raw.device_id = shape->device_index < 0 ? 0 : shape->device_index;
  raw.ndim = shape->ndim;
  raw.sizes = shape->sizes(), raw.strides = shape->strides();
  raw.byte_offset = 0;
  describe(shape->type, raw);
  return handed;
}

}  // namespace kernelwright
