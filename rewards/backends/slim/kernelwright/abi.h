// What crosses between a candidate's object and the binding: plain C structures only.
#ifndef KERNELWRIGHT_ABI_H
#define KERNELWRIGHT_ABI_H

#include <cstdint>

namespace kernelwright {

constexpr uint32_t ABI_VERSION = 2;

// A tensor's memory; numbers of types and devices are torch's.
struct Described {
  void* data;
  const int64_t* sizes;
  const int64_t* strides;
  int32_t ndim;
  int8_t type;
  int8_t device_type;
  int8_t device_index;
};

enum Kind : int32_t {
  KIND_NONE,
  KIND_TENSOR,
  KIND_INT,
  KIND_DOUBLE,
  KIND_BOOL,
  KIND_STRING,
  KIND_LIST,
  KIND_TUPLE,
  KIND_SCALAR,  // only in a Type: bool, int or float
  KIND_ERROR,   // only in a result: `text` and the Python exception in `n`
};

enum Error : int64_t { ERROR_RUNTIME, ERROR_VALUE, ERROR_INDEX, ERROR_TYPE, ERROR_NOT_IMPLEMENTED };

// A Python value on its way in or out. Incoming memory lives until the call returns; outgoing
// `text` and `items` come from malloc and are freed by the binding.
struct Value {
  int32_t kind;
  int32_t unused;
  union {
    int64_t i;
    double d;
    const Described* tensor;  // in
    char* text;
    Value* items;
  };
  void* object;  // torch's tensor: one reference, which moves with the value
  int64_t n;     // length of `text` or `items`
};

// What a parameter accepts.
struct Type {
  int32_t kind;
  int32_t optional;
  const Type* item;  // of lists
};

// The tensor plumbing that torch does for us. There is no compute in this list.
enum Plumbing : int32_t {
  PLUMBING_CONTIGUOUS,
  PLUMBING_CLONE,
  PLUMBING_COPY,     // (target, source)
  PLUMBING_FILL,     // (target, number)
  PLUMBING_CONVERT,  // (tensor, scalar type or -1, device type or -1, device index)
  PLUMBING_REQUIRES_GRAD,
};

// Functions that return an object or a status return null or non-zero on failure; `error` has the
// text. What a `Described` given for filling points to lives as long as the object.
struct Runtime {
  uint32_t version;
  void* (*allocate)(const Described* wanted, Described* out);
  void* (*view)(void* object, const Described* wanted);
  void* (*blob)(const Described* wanted, void (*deleter)(void*), void* context, Described* out);
  // Takes over the references in `arguments`.
  int (*plumb)(int32_t what, Value* arguments, int64_t count, Value* result, Described* out);
  void (*retain)(void* object);
  void (*release)(void* object);
  const char* (*error)();
};

struct Parameter {
  const char* name;  // null: positional only
  Type type;
  const Value* fallback;  // null: required
};

struct Function {
  const char* name;
  const char* doc;
  void* callable;
  void (*invoke)(void* callable, Value* arguments, Value* result);
  const Parameter* parameters;
  int64_t count;
};

struct Module {
  uint32_t version;
  const char* doc;
  const Function* functions;
  int64_t count;
  const char* error;  // text of an exception thrown while registering
};

}  // namespace kernelwright

// Exported by every candidate object.
extern "C" const kernelwright::Module* kernelwright_module(const kernelwright::Runtime* runtime);

#endif
