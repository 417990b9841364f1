// The Python object that stands for a tensor: one for each, as long as either side holds it.
#pragma once

#include <initializer_list>
#include <vector>

#include "python.h"

namespace tandem::python {

struct PyTensor {
  PyObject_HEAD Tensor tensor;
  PyObject* dict;  // attributes of the user's, nullptr where there are none
  PyObject* weak;  // weak references
};

extern PyTypeObject tensor_type;

inline bool is_tensor(PyObject* object) { return Py_TYPE(object) == &tensor_type || PyType_IsSubtype(Py_TYPE(object), &tensor_type); }
inline const Tensor& tensor_of(PyObject* object) { return reinterpret_cast<PyTensor*>(object)->tensor; }
/// The same of an argument that may be left out or None: an undefined tensor then.
inline const Tensor& optional_tensor(PyObject* object) {
  static const Tensor none;
  return given(object) ? tensor_of(object) : none;
}
/// The tensor of an object that the parser has not looked at: a TypeError where it is none.
const Tensor& checked_tensor(PyObject* object);
/// A tensor, or a number.
Operand to_operand(PyObject* object, Site site);
std::vector<Tensor> to_tensors(PyObject* object);

/// The object for a tensor, a new reference: the one that stands for it already, or a new one. None for an undefined tensor.
PyObject* wrap(Tensor tensor);
/// A new object of `type`, a subclass, that stands for the tensor. Error where another object does.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);
PyObject* wrap_tuple(std::vector<Tensor> tensors);
/// Sets up the type, without its methods.
void prepare_tensor_type();
/// The method that every class below Tensor is told to the extension by.
const PyMethodDef& tensor_life_method();

}  // namespace tandem::python
