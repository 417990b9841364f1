// Between brackets: x[...] and x[...] = value, len(x).
#include "bindings.h"
#include "data.h"
#include "operators.h"

namespace tandem::python {
namespace {

void add_index(PyObject* object, std::vector<Index>& to, Site site) {
  if (PyBool_Check(object)) {
    to.emplace_back(full({}, Scalar(object == Py_True), {.dtype = kBool, .device = Device()}, site));
  } else if (PySlice_Check(object)) {
    const auto* const slice = reinterpret_cast<PySliceObject*>(object);
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(object, &start, &stop, &step) < 0) throw ErrorIsSet();
    if (step <= 0) fail<ValueError>("step must be greater than zero");
    to.emplace_back(Slice(given(slice->start) ? std::optional<int64_t>(start) : std::nullopt,
                          given(slice->stop) ? std::optional<int64_t>(stop) : std::nullopt, step));
  } else if (object == Py_None) {
    to.emplace_back(None);
  } else if (object == Py_Ellipsis) {
    to.emplace_back(Ellipsis);
  } else if (is_tensor(object)) {
    to.emplace_back(tensor_of(object));
  } else if (is_integer(object)) {
    to.emplace_back(to_int(object));
  } else if (PySequence_Check(object) && !PyUnicode_Check(object)) {
    Tensor list = tensor_from(object, {}, site);
    if (list.numel() == 0 && list.is_floating_point()) list = list.to(kInt64, {}, site);
    to.emplace_back(list);
  } else if (PyUnicode_Check(object)) {
    fail<TypeError>("new(): invalid data type 'str'");
  } else {
    fail<IndexError>("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ",
                     Py_TYPE(object)->tp_name, ')');
  }
}

/// Whether a list between the brackets stands for several indices, as a tuple does: x[[slice(2), 0]]. One of numbers is one index.
bool is_several(PyObject* key) {
  if (PyTuple_Check(key)) return true;
  if (!PyList_Check(key) || PyList_GET_SIZE(key) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(key); ++i) {
    PyObject* const item = PyList_GET_ITEM(key, i);
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || is_tensor(item) || PySequence_Check(item)) return true;
  }
  return false;
}

std::vector<Index> indices_of(PyObject* key, Site site) {
  std::vector<Index> indices;
  if (is_several(key))
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(key); ++i) add_index(item_of(key, i).get(), indices, site);
  else add_index(key, indices, site);
  return indices;
}

/// x[index], of what looks at a tensor as a sequence, as NumPy does.
PyObject* element(PyObject* self, Py_ssize_t index) {
  return guarded([&] {
    const AtCaller site;
    const Tensor& tensor = tensor_of(self);
    if (tensor.dim() == 0) fail<TypeError>("iteration over a 0-d tensor");
    const int64_t size = tensor.sizes()[0];
    if (index >= size || index < 0) fail<IndexError>("index ", index, " is out of bounds for dimension 0 with size ", size);
    return wrap(tensor.select(0, index, site));
  });
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&] {
    const AtCaller site;
    const Tensor& tensor = tensor_of(self);
    if (PyLong_CheckExact(key)) {
      if (tensor.dim() == 0)
        fail<IndexError>(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a "
            "number");
      const int64_t index = to_int(key);
      if (const int64_t size = tensor.sizes()[0]; index >= size || index < -size)
        fail<IndexError>("index ", index, " is out of bounds for dimension 0 with size ", size);
      return wrap(tensor.select(0, index, site));
    }
    return wrap(tensor.index(indices_of(key, site), site));
  });
}

int assign(PyObject* self, PyObject* key, PyObject* value) {
  return guarded_int([&] {
    if (!value) fail<TypeError>("Tensor does not support deleting items");
    const AtCaller site;
    const Tensor& tensor = tensor_of(self);
    if (is_tensor(value)) {
      tensor.index_put_(indices_of(key, site), tensor_of(value), false, site);
    } else if (PyFloat_Check(value) || PyLong_Check(value)) {
      tensor.index_put_(indices_of(key, site), to_scalar(value), false, site);
    } else {
      if (PyUnicode_Check(value) || (!PySequence_Check(value) && !PyNumber_Check(value)))
        fail<TypeError>("can't assign a ", Py_TYPE(value)->tp_name, " to a torch.", tensor.is_cuda() ? "cuda." : "",
                        scalar_name(tensor.dtype()), "Tensor");
      const Tensor values = tensor_from(value, tensor.dtype(), site);
      tensor.index_put_(indices_of(key, site), values.to(tensor.device(), {}, site), false, site);
    }
    return 0;
  });
}

Py_ssize_t length(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.defined() && tensor.dim() > 0) return tensor.sizes()[0];
  PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
  return -1;
}

int contains(PyObject* self, PyObject* element) {
  return guarded_int([&] {
    const AtCaller site;
    if (!is_tensor(element) && !PyFloat_Check(element) && !PyLong_Check(element))
      fail("Tensor.__contains__ only supports Tensor or scalar, but you passed in a ", Py_TYPE(element)->tp_name, '.');
    return eq(to_operand(self, site), to_operand(element, site), site).any(site).item(site).to<bool>() ? 1 : 0;
  });
}

PyObject* iterate(PyObject* self) {
  return guarded([&] {
    const AtCaller site;
    if (tensor_of(self).dim() == 0) fail<TypeError>("iteration over a 0-d tensor");
    const Object parts = Object::take(wrap_tuple(tensor_of(self).unbind(0, site)));
    return checked(PyObject_GetIter(parts.get()));
  });
}

PyMappingMethods mapping = {length, subscript, assign};

}  // namespace

void add_indexing(PyTypeObject& type) {
  static PySequenceMethods sequence{};
  sequence.sq_length = length;
  sequence.sq_item = element;
  sequence.sq_contains = contains;
  type.tp_as_mapping = &mapping;
  type.tp_as_sequence = &sequence;
  type.tp_iter = iterate;
}

}  // namespace tandem::python
