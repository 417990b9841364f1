// Calls from Python against tables of signatures: which one fits, and what each parameter was given.
#pragma once

#include <cstdint>
#include <span>

#include "python.h"
#include "tensor.h"
#include "values.h"

namespace tandem::python {

/// What a parameter takes.
enum class Kind : uint8_t {
  Tensor,
  Operand,
  Int,
  Double,
  Bool,
  Shape,
  Padding,
  Sizes,
  Scalar,
  Text,
  DType,
  Device,
  Tensors,
  Reduction,
  Doubles,
  Generator,
  Any,
  None  // nothing else
};

struct Parameter {
  const char* name;
  Kind kind;
  bool optional = false;          // may be left out
  bool keyword_only = false;      // never by position
  bool nullable = true;           // where it may be left out, None is the same
  PyObject* key = nullptr;        // the name as Python has it, one object for all
  PyObject* other_key = nullptr;  // another name that PyTorch takes: NumPy's, axis for dim, or that of a number
};

/// One way to call a function.
struct Signature {
  std::span<Parameter> parameters;
  const char* text;     // as an error lists it: "Tensor input, int dim, *, dtype dtype"
  bool spread = false;  // sizes may be given one by one: x.view(2, 3)
};

/// What each parameter of the signature that fits was given; nullptr where nothing was.
class Arguments {
 public:
  static constexpr size_t kMost = 32;
  PyObject* operator[](size_t i) const { return slots_[i]; }
  /// Whether the call fits. `self` is a method's own tensor, its first parameter.
  bool fit(const Signature& signature, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);

 private:
  PyObject* slots_[kMost];
  Object packed_;  // sizes that were given one by one
};

/// The name of a function with all its signatures; the first one that fits is called.
struct Callable {
  const char* name;
  std::span<Signature> signatures;
};

/// Makes Python's names of the parameters, once.
void prepare(const Callable& callable);
/// Sets TypeError that says why no signature fits, as PyTorch would. nullptr.
PyObject* refuse(const Callable& callable, PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
/// Before it refuses a call it asks function(name, is_method, args, kwargs), which gives a result, or NotImplemented.
void set_old_forms(PyObject* function);

/// Whether an operation on this tensor takes long enough for other threads to be let in.
inline bool is_large(const Tensor& tensor) { return tensor.defined() && tensor.is_cpu() && tensor.numel() >= 1 << 15; }
inline bool is_large(PyObject* object) { return object && is_tensor(object) && is_large(tensor_of(object)); }

/// Where `out` was given: puts the result into it, which changes its size where it has another, and gives it. Else the result itself.
PyObject* into(PyObject* out, Tensor result, Site site);

}  // namespace tandem::python
