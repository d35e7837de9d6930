// PYBIND11_MODULE, m.def and py::arg over the plain table of abi.h.
// Classes, objects, arrays and other Python types are not here: they need torch's own headers.
#ifndef KERNELWRIGHT_BIND_H
#define KERNELWRIGHT_BIND_H

#include "convert.h"

namespace pybind11 {

struct none {};
struct gil_scoped_release {};  // the binding keeps the GIL: nothing here runs Python
struct gil_scoped_acquire {};
template <typename...>
struct call_guard {};
enum class return_value_policy { automatic, copy, move, reference, take_ownership };
struct doc {
  const char* text;
};

struct arg_v {
  const char* name;
  kernelwright::Value value;
};
struct arg {
  explicit constexpr arg(const char* name) : name(name) {}
  arg& noconvert(bool = true) { return *this; }
  arg& none(bool = true) { return *this; }
  template <typename T>
  arg_v operator=(const T& value) const {
    if constexpr (std::is_same_v<T, pybind11::none>)
      return {name, {}};
    else if constexpr (std::is_convertible_v<const T&, const char*>)
      return {name, kernelwright::Convert<const char*>::out(std::string(value))};
    else
      return {name, kernelwright::Convert<T>::out(value)};
  }
  const char* name;
};
struct kw_only {};
inline namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

}  // namespace pybind11

namespace kernelwright {

// A parameter while a call runs: what the function's own type is made from.
template <typename T>
struct Held {
  std::decay_t<T> value;
  explicit Held(Value& in) : value(Convert<std::decay_t<T>>::in(in)) {}
  T&& pass() { return static_cast<T&&>(value); }
};
template <typename T>
struct HeldList {
  std::vector<T> value;
  explicit HeldList(Value& in) : value(Convert<std::vector<T>>::in(in)) {}
  c10::ArrayRef<T> pass() { return value; }
};
template <typename T>
struct Held<c10::ArrayRef<T>> : HeldList<T> {
  using HeldList<T>::HeldList;
};
template <typename T>
struct Held<const c10::ArrayRef<T>&> : HeldList<T> {
  using HeldList<T>::HeldList;
};

// The exception being handled, as a result.
Value caught();

template <typename F, typename R, typename... A>
struct Thunk {
  F function;
  template <size_t... I>
  R call(Value* in, std::index_sequence<I...>) {
    std::tuple<Held<A>...> held{Held<A>(in[I])...};
    return function(std::get<I>(held).pass()...);
  }
  static void invoke(void* self, Value* in, Value* result) {
    try {
      auto* thunk = static_cast<Thunk*>(self);
      if constexpr (std::is_void_v<R>)
        thunk->call(in, std::index_sequence_for<A...>());
      else
        *result = Convert<std::decay_t<R>>::out(thunk->call(in, std::index_sequence_for<A...>()));
    } catch (...) {
      *result = caught();
    }
  }
};

// The functions being registered.
struct Table;
std::string& documentation(Table& table);
void add_function(Table& table, const char* name, void* callable,
                  void (*invoke)(void*, Value*, Value*), const Type* types, int64_t count);
// These describe the function added last.
void set_doc(Table& table, const char* doc);
void name_next(Table& table, const char* name, const Value* fallback = nullptr);

}  // namespace kernelwright

namespace pybind11 {

class module_ {
 public:
  explicit module_(kernelwright::Table& table) : table_(table) {}
  std::string& doc() { return kernelwright::documentation(table_); }

  template <typename F, typename... Extra>
  module_& def(const char* name, F&& function, const Extra&... extra) {
    using Plain = std::decay_t<F>;
    if constexpr (std::is_pointer_v<Plain>)
      add_pointer(name, function, extra...);
    else
      add_object(name, std::forward<F>(function), &Plain::operator(), extra...);
    return *this;
  }

 private:
  template <typename R, typename... A, typename... Extra>
  void add_pointer(const char* name, R (*function)(A...), const Extra&... extra) {
    add<R (*)(A...), R, A...>(name, function, extra...);
  }
  template <typename R, typename... A, typename... Extra>
  void add_pointer(const char* name, R (*function)(A...) noexcept, const Extra&... extra) {
    add<R (*)(A...), R, A...>(name, function, extra...);
  }
  template <typename F, typename C, typename R, typename... A, typename... Extra>
  void add_object(const char* name, F&& function, R (C::*)(A...) const, const Extra&... extra) {
    add<std::decay_t<F>, R, A...>(name, std::forward<F>(function), extra...);
  }
  template <typename F, typename C, typename R, typename... A, typename... Extra>
  void add_object(const char* name, F&& function, R (C::*)(A...), const Extra&... extra) {
    add<std::decay_t<F>, R, A...>(name, std::forward<F>(function), extra...);
  }

  template <typename F, typename R, typename... A, typename G, typename... Extra>
  void add(const char* name, G&& function, const Extra&... extra) {
    using Thunk = kernelwright::Thunk<F, R, A...>;
    const kernelwright::Type types[] = {kernelwright::Convert<std::decay_t<A>>::type..., {}};
    kernelwright::add_function(table_, name, new Thunk{std::forward<G>(function)}, &Thunk::invoke,
                               types, sizeof...(A));
    (take(extra), ...);
  }

  void take(const char* doc) { kernelwright::set_doc(table_, doc); }
  void take(pybind11::doc text) { kernelwright::set_doc(table_, text.text); }
  void take(const arg& next) { kernelwright::name_next(table_, next.name); }
  void take(const arg_v& next) { kernelwright::name_next(table_, next.name, &next.value); }
  template <typename... Guards>
  void take(call_guard<Guards...>) {}
  void take(return_value_policy) {}
  void take(kw_only) {}

  kernelwright::Table& table_;
};
using module = module_;

}  // namespace pybind11

#define PYBIND11_MODULE(name, variable) \
  void kernelwright_register([[maybe_unused]] ::pybind11::module_& variable)

// Defined by PYBIND11_MODULE.
void kernelwright_register(pybind11::module_& module);

namespace py = pybind11;

#endif
