// The CPython extension that loads candidates' objects and makes their functions callable.
// Compiled once per Python, torch and compiler; candidates never see this file or Python.h.
#include <dlfcn.h>

#include "values.h"

namespace kernelwright {

struct Overload {
  const Function* function;
  std::vector<PyObject*> names;      // interned; null where positional only
  std::vector<PyObject*> fallbacks;  // null where required
};

struct Callable {
  PyObject_HEAD vectorcallfunc vectorcall;
  std::vector<Overload>* overloads;
  PyObject* name;
  PyObject* doc;
};

// FITS with the call made, its result in `out`.
Outcome try_call(const Overload& overload, PyObject* const* args, Py_ssize_t given,
                 PyObject* keywords, PyObject** out) {
  const Function& function = *overload.function;
  const int64_t count = function.count;
  const Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  if (given + named > count) return MISFIT;
  constexpr int64_t FEW = 12;
  Value few[FEW];
  std::unique_ptr<Value[]> many(count > FEW ? new Value[static_cast<size_t>(count)] : nullptr);
  Value* values = many ? many.get() : few;
  Arena arena;
  int64_t done = 0;
  Py_ssize_t matched = 0;
  Outcome outcome = FITS;
  for (; done < count && outcome == FITS; ++done) {
    PyObject* object = done < given ? args[done] : nullptr;
    for (Py_ssize_t k = 0; !object && k < named; ++k) {
      PyObject* name = overload.names[done];
      PyObject* key = PyTuple_GET_ITEM(keywords, k);
      if (name && (key == name || PyUnicode_Compare(key, name) == 0))
        object = args[given + k], ++matched;
    }
    if (!object) object = overload.fallbacks[done];
    outcome =
        object ? value_in(object, function.parameters[done].type, arena, values[done]) : MISFIT;
  }
  if (outcome == FITS && matched != named) outcome = MISFIT;
  if (outcome == FITS) {
    Value result{};
    function.invoke(function.callable, values, &result);
    *out = value_out(result);
  } else {
    --done;  // the last one did not fit and holds nothing
  }
  for (int64_t i = 0; i < done; ++i) give_up(values[i]);
  return outcome;
}

const char* kind_name(const Type& type) {
  static const char* names[] = {"None", "torch.Tensor", "int",   "float", "bool",
                                "str",  "list",         "tuple", "number"};
  return type.kind >= 0 && type.kind <= KIND_SCALAR ? names[type.kind] : "?";
}

PyObject* call(PyObject* self, PyObject* const* args, size_t flags, PyObject* keywords) {
  auto* callable = reinterpret_cast<Callable*>(self);
  for (const Overload& overload : *callable->overloads) {
    PyObject* out = nullptr;
    const Outcome outcome = try_call(overload, args, PyVectorcall_NARGS(flags), keywords, &out);
    if (outcome == FITS) return out;
    if (outcome == RAISED) return nullptr;
  }
  std::string text;
  for (const Overload& overload : *callable->overloads) {
    text += std::string("\n    ") + overload.function->name + "(";
    for (int64_t i = 0; i < overload.function->count; ++i) {
      const Parameter& parameter = overload.function->parameters[i];
      text += i ? ", " : "";
      text += parameter.name ? std::string(parameter.name) + ": " : "";
      text += kind_name(parameter.type);
    }
    text += ")";
  }
  return PyErr_Format(PyExc_TypeError,
                      "%U(): incompatible function arguments. The following are supported:%s",
                      callable->name, text.c_str());
}

PyObject* represent(PyObject* self) {
  return PyUnicode_FromFormat("<kernel function %U>", reinterpret_cast<Callable*>(self)->name);
}
PyObject* get_name(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<Callable*>(self)->name);
}
PyObject* get_doc(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<Callable*>(self)->doc);
}

PyGetSetDef properties[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                            {"__doc__", get_doc, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyTypeObject callable_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "kernelwright.Function";
  type.tp_basicsize = sizeof(Callable);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  type.tp_vectorcall_offset = offsetof(Callable, vectorcall);
  type.tp_call = PyVectorcall_Call;
  type.tp_repr = represent;
  type.tp_getset = properties;
  return type;
}();

// Adds `function` to the dictionary as a new callable, or as an overload of the one there.
bool add(PyObject* functions, const Function& function) {
  Overload overload{&function, {}, {}};
  for (int64_t i = 0; i < function.count; ++i) {
    const Parameter& parameter = function.parameters[i];
    overload.names.push_back(parameter.name ? PyUnicode_InternFromString(parameter.name) : nullptr);
    Value fallback = parameter.fallback ? *parameter.fallback : Value{};
    PyObject* object = parameter.fallback ? value_out(fallback) : nullptr;
    if (parameter.fallback && !object) return false;
    overload.fallbacks.push_back(object);
  }
  if (PyObject* known = PyDict_GetItemString(functions, function.name)) {
    reinterpret_cast<Callable*>(known)->overloads->push_back(overload);
    return true;
  }
  auto* callable = PyObject_New(Callable, &callable_type);
  if (!callable) return false;
  callable->vectorcall = call;
  callable->overloads = new std::vector<Overload>{overload};
  callable->name = PyUnicode_FromString(function.name);
  callable->doc = PyUnicode_FromString(function.doc);
  const int failed =
      PyDict_SetItemString(functions, function.name, reinterpret_cast<PyObject*>(callable));
  Py_DECREF(callable);
  return !failed;
}

// load(path) -> (doc, {name: function}). The object stays loaded for the life of the process.
PyObject* load(PyObject*, PyObject* path) {
  const char* text = PyUnicode_AsUTF8(path);
  if (!text) return nullptr;
  void* handle = dlopen(text, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return PyErr_Format(PyExc_ImportError, "%s", dlerror());
  auto* entry =
      reinterpret_cast<decltype(&kernelwright_module)>(dlsym(handle, "kernelwright_module"));
  if (!entry) return PyErr_Format(PyExc_ImportError, "%s has no kernelwright_module", text);
  const Module* module = entry(&table);
  if (module->version != ABI_VERSION)
    return PyErr_Format(PyExc_ImportError, "built for another version");
  if (module->error) return PyErr_Format(PyExc_ImportError, "%s", module->error);
  PyObject* functions = PyDict_New();
  for (int64_t i = 0; functions && i < module->count; ++i)
    if (!add(functions, module->functions[i])) Py_CLEAR(functions);
  return functions ? Py_BuildValue("(sN)", module->doc, functions) : nullptr;
}

PyMethodDef methods[] = {{"load", load, METH_O, "load(path) -> (doc, functions)"},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "kernelwright_binding",
                          nullptr,
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace kernelwright

PyMODINIT_FUNC PyInit_kernelwright_binding() {
  PyObject* torch = PyImport_ImportModule("torch");
  if (!torch || PyType_Ready(&kernelwright::callable_type) < 0) return nullptr;
  return PyModule_Create(&kernelwright::definition);
}
