// What crosses between a candidate's object and the binding: plain C structures only.
// The tensor layouts are DLPack's (version 1), restated so that nothing of torch is included.
#ifndef KERNELWRIGHT_ABI_H
#define KERNELWRIGHT_ABI_H

#include <cstdint>

namespace kernelwright {

constexpr uint32_t ABI_VERSION = 1;

struct RawTensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t* sizes;
  int64_t* strides;
  uint64_t byte_offset;
};

struct Managed {
  uint32_t major;
  uint32_t minor;
  void* context;
  void (*deleter)(Managed*);
  uint64_t flags;
  RawTensor tensor;
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
    RawTensor* tensor;  // in
    Managed* managed;   // out, when `object` is null: ownership moves
    char* text;
    Value* items;
  };
  void* object;  // the Python tensor: a new reference, both ways
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

struct Runtime {
  uint32_t version;
  // Null on failure; `error` has the text.
  Managed* (*allocate)(const RawTensor* prototype);
  // Turns ownership of a managed tensor into a Python tensor.
  void* (*adopt)(Managed*);
  // Takes over the references in `arguments`. 0 on success; a tensor in `result` is described by
  // memory that holds until this thread's next call.
  int (*plumb)(int32_t what, Value* arguments, int64_t count, Value* result);
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
