// The object's entry point and its table of functions.
#include "../kernelwright/bind.h"

namespace kernelwright {

Value text_value(const char* text, size_t n, Kind kind) {
  Value v{};
  v.kind = kind;
  v.text = static_cast<char*>(std::malloc(n + 1));
  if (!v.text) throw std::bad_alloc();
  std::memcpy(v.text, text, n);
  v.text[n] = 0;
  v.n = static_cast<int64_t>(n);
  return v;
}

Value list_value(size_t n, Kind kind) {
  Value v{};
  v.kind = kind;
  v.items = static_cast<Value*>(std::calloc(n + 1, sizeof(Value)));
  if (!v.items) throw std::bad_alloc();
  v.n = static_cast<int64_t>(n);
  return v;
}

static Value failure(const char* text, Error kind) {
  Value v = text_value(text, std::strlen(text), KIND_ERROR);
  v.n = kind;
  return v;
}

Value caught() {
  try {
    throw;
  } catch (const c10::Error& error) {
    return failure(error.what(), error.kind());
  } catch (const std::exception& error) {
    return failure(error.what(), ERROR_RUNTIME);
  } catch (...) {
    return failure("unknown C++ exception", ERROR_RUNTIME);
  }
}

struct Table {
  Module module{ABI_VERSION, "", nullptr, 0, nullptr};
  std::string doc, error;
  std::vector<Function> functions;
  std::deque<std::vector<Parameter>> parameters;
  std::deque<std::string> texts;
  std::deque<Value> defaults;
  size_t named = 0;
};

std::string& documentation(Table& table) { return table.doc; }

void add_function(Table& table, const char* name, void* callable,
                  void (*invoke)(void*, Value*, Value*), const Type* types, int64_t count) {
  auto& list = table.parameters.emplace_back();
  for (int64_t i = 0; i < count; ++i) list.push_back({nullptr, types[i], nullptr});
  const char* kept = table.texts.emplace_back(name).c_str();
  table.functions.push_back({kept, "", callable, invoke, list.data(), count});
  table.named = 0;
}

void set_doc(Table& table, const char* doc) {
  table.functions.back().doc = table.texts.emplace_back(doc).c_str();
}

void name_next(Table& table, const char* name, const Value* fallback) {
  auto& list = table.parameters.back();
  TORCH_CHECK(table.named < list.size(), "more py::arg than parameters: ", name);
  Parameter& parameter = list[table.named++];
  parameter.name = table.texts.emplace_back(name).c_str();
  if (!fallback) return;
  parameter.fallback = &table.defaults.emplace_back(*fallback);
  if (fallback->kind == KIND_NONE) parameter.type.optional = 1;
}

}  // namespace kernelwright

extern "C" __attribute__((visibility("default"))) const kernelwright::Module* kernelwright_module(
    const kernelwright::Runtime* runtime) {
  kernelwright::runtime = runtime;
  auto* table = new kernelwright::Table;
  pybind11::module_ module(*table);
  try {
    kernelwright_register(module);
  } catch (const std::exception& error) {
    table->error = error.what();
    table->module.error = table->error.c_str();
  }
  table->module.doc = table->doc.c_str();
  table->module.functions = table->functions.data();
  table->module.count = static_cast<int64_t>(table->functions.size());
  return &table->module;
}
