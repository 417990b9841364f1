// Several tensors as one result, with names: torch.return_types.
#pragma once

#include <initializer_list>

#include "python.h"

namespace tandem::python {

/// A kind of result: the operation's name as PyTorch's type has it, and its parts'. One object for each operation; its type is made by the
/// first result.
struct NamedResult {
  const char* name;
  std::initializer_list<const char*> fields;
  PyTypeObject* type = nullptr;
};

/// A new tuple with named parts.
PyObject* wrap_named(NamedResult& kind, std::initializer_list<Tensor> parts);
/// The same where `out` was given: puts each part into the tensor that `out`, a tuple or list, has in its place, and gives those.
PyObject* into_named(const char* op, PyObject* out, NamedResult& kind, std::initializer_list<Tensor> parts, Site site);
/// A new tuple with the tensors that there are.
PyObject* wrap_defined(std::initializer_list<Tensor> parts);

}  // namespace tandem::python
