// `Value` to and from Python objects.
#ifndef KERNELWRIGHT_BINDING_VALUES_H
#define KERNELWRIGHT_BINDING_VALUES_H

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime.h"
#include <torch/csrc/autograd/python_variable.h>

namespace kernelwright {

// Subclasses by their real type: torch's own check asks Python for them, which costs more.
inline bool is_tensor(PyObject* object) {
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;
}

// Memory of one call's arguments. The references it counts are dropped unless the callee took them.
struct Arena {
  static constexpr int FEW = 8;
  Described few[FEW];
  int used = 0;
  std::vector<std::unique_ptr<Described>> more;
  std::vector<std::unique_ptr<Value[]>> lists;
  Described* tensor() {
    if (used < FEW) return &few[used++];
    return more.emplace_back(std::make_unique<Described>()).get();
  }
};

inline void give_up(Value& value) {
  if (value.kind == KIND_TENSOR && value.object) release(std::exchange(value.object, nullptr));
  if (value.kind == KIND_LIST)
    for (int64_t i = 0; i < value.n; ++i) give_up(value.items[i]);
}

enum Outcome { FITS, MISFIT, RAISED };

inline Outcome number_in(PyObject* object, int32_t kind, Value& out) {
  if (kind == KIND_SCALAR)
    kind = PyBool_Check(object) ? KIND_BOOL : PyFloat_Check(object) ? KIND_DOUBLE : KIND_INT;
  out.kind = kind;
  if (kind == KIND_BOOL) {
    if (!PyBool_Check(object)) return MISFIT;
    out.i = object == Py_True;
    return FITS;
  }
  if (kind == KIND_DOUBLE) {
    if (!PyFloat_Check(object) && !PyLong_Check(object) && !PyNumber_Check(object)) return MISFIT;
    if (is_tensor(object)) return MISFIT;
    out.d = PyFloat_AsDouble(object);
  } else {
    if (PyFloat_Check(object) || is_tensor(object) || !PyIndex_Check(object)) return MISFIT;
    PyObject* whole = PyNumber_Index(object);
    if (!whole) return PyErr_Clear(), MISFIT;
    out.i = PyLong_AsLongLong(whole);
    Py_DECREF(whole);
  }
  if (PyErr_Occurred()) return PyErr_Clear(), MISFIT;
  return FITS;
}

inline Outcome value_in(PyObject* object, const Type& type, Arena& arena, Value& out) {
  out.kind = KIND_NONE;
  out.object = nullptr;
  if (object == Py_None) return type.optional ? FITS : MISFIT;
  switch (type.kind) {
    case KIND_TENSOR: {
      if (!is_tensor(object)) return MISFIT;
      const at::Tensor& tensor = THPVariable_Unpack(object);
      Described* described = arena.tensor();
      if (!guarded(false, [&] { return describe(tensor, *described), true; })) {
        PyErr_SetString(PyExc_RuntimeError, last_error.c_str());
        return RAISED;
      }
      out.kind = KIND_TENSOR;
      out.tensor = described;
      out.object = tensor.unsafeGetTensorImpl();
      retain(out.object);
      return FITS;
    }
    case KIND_STRING: {
      if (!PyUnicode_Check(object)) return MISFIT;
      Py_ssize_t n;
      out.text = const_cast<char*>(PyUnicode_AsUTF8AndSize(object, &n));
      if (!out.text) return RAISED;
      out.n = n;
      out.kind = KIND_STRING;
      return FITS;
    }
    case KIND_LIST: {
      if (!PySequence_Check(object) || PyUnicode_Check(object) || is_tensor(object)) return MISFIT;
      PyObject* fast = PySequence_Fast(object, "a sequence");
      if (!fast) return RAISED;
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
      auto& list = arena.lists.emplace_back(std::make_unique<Value[]>(static_cast<size_t>(n)));
      Value* items = list.get();  // nested lists may move `list`
      out.items = items;
      out.n = 0;
      out.kind = KIND_LIST;
      for (Py_ssize_t i = 0; i < n; ++i) {
        const Outcome outcome =
            value_in(PySequence_Fast_GET_ITEM(fast, i), *type.item, arena, items[i]);
        if (outcome != FITS) {
          give_up(out);
          Py_DECREF(fast);
          return outcome;
        }
        out.n = i + 1;
      }
      Py_DECREF(fast);
      return FITS;
    }
    default:
      return number_in(object, type.kind, out);
  }
}

// Takes over what `value` owns.
inline PyObject* value_out(Value& value) {
  switch (value.kind) {
    case KIND_NONE:
      Py_RETURN_NONE;
    case KIND_TENSOR:
      return THPVariable_Wrap(owned(value.object));
    case KIND_INT:
      return PyLong_FromLongLong(value.i);
    case KIND_DOUBLE:
      return PyFloat_FromDouble(value.d);
    case KIND_BOOL:
      return PyBool_FromLong(value.i != 0);
    case KIND_STRING: {
      PyObject* text = PyUnicode_DecodeUTF8(value.text, value.n, "replace");
      std::free(value.text);
      return text;
    }
    case KIND_LIST:
    case KIND_TUPLE: {
      PyObject* out = value.kind == KIND_LIST ? PyList_New(value.n) : PyTuple_New(value.n);
      for (int64_t i = 0; i < value.n; ++i) {
        PyObject* item = value_out(value.items[i]);
        if (!item || !out) {
          Py_XDECREF(item);
          Py_CLEAR(out);
        } else if (value.kind == KIND_LIST) {
          PyList_SET_ITEM(out, i, item);
        } else {
          PyTuple_SET_ITEM(out, i, item);
        }
      }
      std::free(value.items);
      return out;
    }
    case KIND_ERROR: {
      PyObject* kinds[] = {PyExc_RuntimeError, PyExc_ValueError, PyExc_IndexError, PyExc_TypeError,
                           PyExc_NotImplementedError};
      PyObject* text = PyUnicode_DecodeUTF8(
          value.text, static_cast<Py_ssize_t>(std::strlen(value.text)), "replace");
      std::free(value.text);
      if (!text) return nullptr;
      PyErr_SetObject(value.n >= 0 && value.n < 5 ? kinds[value.n] : PyExc_RuntimeError, text);
      Py_DECREF(text);
      return nullptr;
    }
    default:
      PyErr_SetString(PyExc_RuntimeError, "the object returned a value of unknown kind");
      return nullptr;
  }
}

}  // namespace kernelwright

#endif
