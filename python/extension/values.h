// Values of the library that Python holds as objects of its own, dtype, device and Size, and numbers and lists as the library takes them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "python.h"

namespace tandem::python {

extern PyTypeObject dtype_type, device_type;
/// A tuple of sizes; made in values.cpp as a subclass of tuple.
extern PyTypeObject* size_type;

inline bool is_dtype(PyObject* object) { return Py_TYPE(object) == &dtype_type; }
inline bool is_device(PyObject* object) { return Py_TYPE(object) == &device_type; }
/// A number that indexes: an int, or what has __index__, but neither a bool nor a tensor.
bool is_integer(PyObject* object);

// New references.
PyObject* from_dtype(DType dtype);
PyObject* from_device(Device device);
PyObject* from_shape(const Shape& shape);
PyObject* from_scalar(const Scalar& scalar);
PyObject* from_text(std::string_view text);

// What the library takes. The parser has seen that the kind fits (arguments.h); what is wrong besides is thrown.
int64_t to_int(PyObject* object);
double to_double(PyObject* object);
bool to_bool(PyObject* object);
Scalar to_scalar(PyObject* object);
Shape to_shape(PyObject* object);
std::vector<double> to_doubles(PyObject* object);
std::string_view to_text(PyObject* object);
/// A dtype, or Python's float, int or bool.
DType to_dtype(PyObject* object);
/// A device, its name, or a GPU's number.
Device to_device(PyObject* object);
Reduction to_reduction(PyObject* object);

/// What the names of dtypes begin with in texts: "tandem.", or "torch." once torch_compat stands in for it.
const char* module_prefix();
void set_module_prefix(const char* prefix);

/// Adds the types and the dtypes to the module. False after an error.
bool add_values(PyObject* module);

}  // namespace tandem::python
