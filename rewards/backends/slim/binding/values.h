// `Value` to and from Python objects.
#ifndef KERNELWRIGHT_BINDING_VALUES_H
#define KERNELWRIGHT_BINDING_VALUES_H

#include <cstdlib>
#include <deque>

#include "torch_api.h"

namespace kernelwright {

// Memory of one call's arguments. The references it counts are dropped unless the callee took them.
struct Arena {
  static constexpr int FEW = 8;
  RawTensor few[FEW];
  int used = 0;
  std::deque<RawTensor> tensors;
  std::deque<std::vector<Value>> lists;
  RawTensor* tensor() { return used < FEW ? &few[used++] : &tensors.emplace_back(); }
};

inline void give_up(Value& value) {
  if (value.kind == KIND_TENSOR) Py_CLEAR(*reinterpret_cast<PyObject**>(&value.object));
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
    case KIND_TENSOR:
      if (!is_tensor(object)) return MISFIT;
      out.tensor = arena.tensor();
      if (torch_api.exchange->raw_from_object(object, out.tensor)) return RAISED;
      out.kind = KIND_TENSOR;
      out.object = Py_NewRef(object);
      return FITS;
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
      auto& list = arena.lists.emplace_back(static_cast<size_t>(PySequence_Fast_GET_SIZE(fast)));
      out.items = list.data();
      out.n = 0;
      out.kind = KIND_LIST;
      for (size_t i = 0; i < list.size(); ++i) {
        const Outcome outcome =
            value_in(PySequence_Fast_GET_ITEM(fast, static_cast<Py_ssize_t>(i)), *type.item, arena, list[i]);
        if (outcome != FITS) {
          give_up(out);
          Py_DECREF(fast);
          return outcome;
        }
        out.n = static_cast<int64_t>(i) + 1;
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
    case KIND_TENSOR: {
      if (value.object) return static_cast<PyObject*>(value.object);
      void* object = nullptr;
      if (torch_api.exchange->object_from_managed(value.managed, &object)) return nullptr;
      return static_cast<PyObject*>(object);
    }
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
      PyObject* text = PyUnicode_DecodeUTF8(value.text, static_cast<Py_ssize_t>(strlen(value.text)), "replace");
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
