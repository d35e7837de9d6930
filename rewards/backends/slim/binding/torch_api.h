// What the binding needs of torch, found once: the C exchange table, types and method names.
#ifndef KERNELWRIGHT_BINDING_TORCH_API_H
#define KERNELWRIGHT_BINDING_TORCH_API_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <mutex>
#include <string>
#include <vector>

#include "../kernelwright/abi.h"

namespace kernelwright {

// DLPack's exchange table, version 1.
struct Exchange {
  uint32_t major;
  uint32_t minor;
  Exchange* previous;
  int (*allocate)(RawTensor*, Managed**, void*, void (*)(void*, const char*, const char*));
  int (*managed_from_object)(void*, Managed**);
  int (*object_from_managed)(Managed*, void**);
  int (*raw_from_object)(void*, RawTensor*);
  int (*stream)(int32_t, int32_t, void**);
};

struct Torch {
  const Exchange* exchange = nullptr;
  PyTypeObject* tensor = nullptr;
  PyObject* dtypes[16] = {};  // by torch's number
  PyObject *contiguous = nullptr, *clone = nullptr, *copy = nullptr, *fill = nullptr, *to = nullptr,
           *requires_grad = nullptr, *device_key = nullptr, *dtype_key = nullptr;
};
inline Torch torch_api;

inline bool find_torch() {
  Torch& api = torch_api;
  PyObject* module = PyImport_ImportModule("torch");
  if (!module) return false;
  api.tensor = reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(module, "Tensor"));
  if (!api.tensor) return false;
  PyObject* capsule =
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(api.tensor), "__dlpack_c_exchange_api__");
  if (!capsule) return false;
  api.exchange = static_cast<Exchange*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  if (!api.exchange) return false;
  if (api.exchange->major != 1 || !api.exchange->raw_from_object) {
    PyErr_SetString(PyExc_ImportError, "torch's DLPack exchange table is not version 1");
    return false;
  }
  const std::pair<int, const char*> names[] = {
      {0, "uint8"}, {1, "int8"}, {2, "int16"}, {3, "int32"}, {4, "int64"}, {5, "float16"},
      {6, "float32"}, {7, "float64"}, {11, "bool"}, {15, "bfloat16"}};
  for (auto [number, name] : names)
    if (!(api.dtypes[number] = PyObject_GetAttrString(module, name))) return false;
  const std::pair<PyObject**, const char*> methods[] = {
      {&api.contiguous, "contiguous"}, {&api.clone, "clone"}, {&api.copy, "copy_"},
      {&api.fill, "fill_"}, {&api.to, "to"}, {&api.requires_grad, "requires_grad"},
      {&api.device_key, "device"}, {&api.dtype_key, "dtype"}};
  for (auto [slot, name] : methods)
    if (!(*slot = PyUnicode_InternFromString(name))) return false;
  Py_DECREF(module);
  return true;
}

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == torch_api.tensor || PyType_IsSubtype(Py_TYPE(object), torch_api.tensor);
}

// References given up by threads that do not hold the interpreter lock, dropped at the next call.
inline std::mutex pending_lock;
inline std::vector<PyObject*> pending;
inline volatile bool has_pending = false;

inline void drop_pending() {
  if (!has_pending) return;
  std::vector<PyObject*> list;
  {
    std::lock_guard<std::mutex> guard(pending_lock);
    list.swap(pending);
    has_pending = false;
  }
  for (PyObject* object : list) Py_DECREF(object);
}

}  // namespace kernelwright

#endif
