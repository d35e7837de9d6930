// The table that candidates' objects call back into: allocation and torch's own tensor plumbing.
#ifndef KERNELWRIGHT_BINDING_RUNTIME_H
#define KERNELWRIGHT_BINDING_RUNTIME_H

#include "values.h"

namespace kernelwright {

inline thread_local std::string last_error;

inline void* adopt(Managed* managed) {
  Value value{};
  value.kind = KIND_TENSOR;
  value.managed = managed;
  return value_out(value);
}

inline void note_python_error() {
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyObject* text = error ? PyObject_Str(error) : nullptr;
  const char* chars = text ? PyUnicode_AsUTF8(text) : nullptr;
  last_error = chars ? chars : "unknown Python error";
  PyErr_Clear();
  Py_XDECREF(text), Py_XDECREF(type), Py_XDECREF(error), Py_XDECREF(trace);
}

inline Managed* allocate(const RawTensor* prototype) {
  Managed* out = nullptr;
  const auto set_error = [](void*, const char*, const char* message) { last_error = message; };
  if (torch_api.exchange->allocate(const_cast<RawTensor*>(prototype), &out, nullptr, set_error)) {
    // torch reports a failure under a dispatch mode as a Python error.
    if (PyGILState_Check() && PyErr_Occurred()) note_python_error();
    return nullptr;
  }
  return out;
}

inline PyObject* convert_call(PyObject* self, const Value* arguments) {
  PyObject* keywords = PyDict_New();
  if (!keywords) return nullptr;
  const int64_t type = arguments[1].i, device = arguments[2].i, index = arguments[3].i;
  if (type >= 0 && type < 16 && torch_api.dtypes[type])
    PyDict_SetItem(keywords, torch_api.dtype_key, torch_api.dtypes[type]);
  std::string name = device == 0 ? "cpu" : "cuda";
  if (device != 0 && index >= 0) name += ":" + std::to_string(index);
  PyObject* where = PyUnicode_FromString(name.c_str());
  if (where) PyDict_SetItem(keywords, torch_api.device_key, where);
  Py_XDECREF(where);
  PyObject* method = PyObject_GetAttr(self, torch_api.to);
  PyObject* none = PyTuple_New(0);
  PyObject* out = method && none ? PyObject_Call(method, none, keywords) : nullptr;
  Py_XDECREF(method), Py_XDECREF(none), Py_DECREF(keywords);
  return out;
}

inline PyObject* plumb_call(int32_t what, PyObject* self, Value* arguments, int64_t count) {
  const Torch& api = torch_api;
  switch (what) {
    case PLUMBING_CONTIGUOUS:
      return PyObject_CallMethodNoArgs(self, api.contiguous);
    case PLUMBING_CLONE:
      return PyObject_CallMethodNoArgs(self, api.clone);
    case PLUMBING_REQUIRES_GRAD:
      return PyObject_GetAttr(self, api.requires_grad);
    case PLUMBING_CONVERT:
      if (count == 4) return convert_call(self, arguments);
      break;
    case PLUMBING_COPY:
    case PLUMBING_FILL: {
      if (count != 2) break;
      PyObject* other = value_out(arguments[1]);
      arguments[1].kind = KIND_NONE;
      if (!other) return nullptr;
      PyObject* out = PyObject_CallMethodOneArg(self, what == PLUMBING_COPY ? api.copy : api.fill, other);
      Py_DECREF(other);
      return out;
    }
    default:
      break;
  }
  PyErr_SetString(PyExc_RuntimeError, "no such plumbing");
  return nullptr;
}

inline int plumb(int32_t what, Value* arguments, int64_t count, Value* result) {
  if (!PyGILState_Check()) {
    last_error = "tensor copies, fills and conversions are not available inside a parallel region";
    return -1;
  }
  PyObject* self = count > 0 ? value_out(arguments[0]) : nullptr;
  PyObject* out = self ? plumb_call(what, self, arguments, count) : nullptr;
  Py_XDECREF(self);
  result->kind = KIND_NONE;
  if (!out) {
    note_python_error();
    return -1;
  }
  if (out == Py_True || out == Py_False) {
    result->kind = KIND_BOOL;
    result->i = out == Py_True;
    Py_DECREF(out);
    return 0;
  }
  static thread_local RawTensor described;
  if (torch_api.exchange->raw_from_object(out, &described)) {
    note_python_error();
    Py_DECREF(out);
    return -1;
  }
  result->kind = KIND_TENSOR;
  result->tensor = &described;
  result->object = out;
  return 0;
}

inline void retain(void* object) { Py_INCREF(static_cast<PyObject*>(object)); }

inline void release(void* object) {
  if (!Py_IsInitialized()) return;  // a candidate's static, destroyed after the interpreter
  if (PyGILState_Check()) {
    Py_DECREF(static_cast<PyObject*>(object));
    return;
  }
  std::lock_guard<std::mutex> guard(pending_lock);
  pending.push_back(static_cast<PyObject*>(object));
  has_pending = true;
}

inline const Runtime table{ABI_VERSION, allocate, adopt,   plumb,
                           retain,      release,  [] { return last_error.c_str(); }};

}  // namespace kernelwright

#endif
