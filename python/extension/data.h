// Tensors of Python's own data, and back: nested lists, numbers, buffers.
#pragma once

#include <optional>

#include "python.h"

namespace tandem::python {

/// A new CPU tensor of a number, nested sequences of numbers, tensors with one element, or what has a buffer, such as an ndarray. Without a
/// dtype: bool, int64 or the default dtype, as the values are. Error where the sequences have different lengths, or hold something else.
Tensor tensor_from(PyObject* data, std::optional<DType> dtype, Site site);

/// A tensor over the buffer's memory, which it keeps; a TypeError where no dtype is like its elements. `copied`: of its own memory.
Tensor tensor_of_buffer(PyObject* object, bool copied, Site site);

/// The values as nested lists of Python's numbers; a number where the tensor has no dimensions. A new reference.
PyObject* nested_list(const Tensor& tensor, Site site);

/// The C type of a dtype's elements as buffers call it; nullptr where they have none.
const char* buffer_format(DType dtype);

/// Adds tensor, as_tensor, from_numpy and frombuffer to the module.
bool add_data(PyObject* module);

}  // namespace tandem::python
