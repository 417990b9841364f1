// What a tensor tells about itself: x.shape, x.dtype, x.grad and so on, and how it prints.
#include "autograd.h"
#include "autograd/hooks.h"
#include "bindings.h"
#include "operators.h"

namespace tandem::python {
namespace {

template <PyObject* (*get)(const Tensor&)>
PyObject* attribute(PyObject* self, void*) {
  return guarded([&] { return get(tensor_of(self)); });
}

/// All dimensions in the other order.
Tensor reversed(const Tensor& tensor) {
  const AtCaller site;
  Shape order;
  for (int64_t i = tensor.dim(); i-- > 0;) order.push_back(i);
  return tensor.permute(order, site);
}

PyObject* shape(const Tensor& tensor) { return from_shape(tensor.sizes()); }
PyObject* dtype(const Tensor& tensor) { return from_dtype(tensor.dtype()); }
PyObject* device(const Tensor& tensor) { return from_device(tensor.device()); }
PyObject* is_cuda(const Tensor& tensor) { return PyBool_FromLong(tensor.is_cuda()); }
PyObject* is_cpu(const Tensor& tensor) { return PyBool_FromLong(tensor.is_cpu()); }
PyObject* is_leaf(const Tensor& tensor) { return PyBool_FromLong(tensor.is_leaf()); }
PyObject* no(const Tensor&) { Py_RETURN_FALSE; }
PyObject* nothing(const Tensor&) { Py_RETURN_NONE; }
PyObject* ndim(const Tensor& tensor) { return PyLong_FromLongLong(tensor.dim()); }
PyObject* transposed(const Tensor& tensor) { return wrap(reversed(tensor)); }
PyObject* matrices_transposed(const Tensor& tensor) {
  const AtCaller site;
  if (tensor.dim() == 1) fail("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return wrap(tensor.dim() == 0 ? tensor : tensor.mT(site));
}
PyObject* itemsize(const Tensor& tensor) { return PyLong_FromSize_t(tensor.element_size()); }
PyObject* nbytes(const Tensor& tensor) { return PyLong_FromSize_t(tensor.nbytes()); }
PyObject* version(const Tensor& tensor) { return PyLong_FromUnsignedLong(tensor.version()); }
PyObject* data(const Tensor& tensor) { return wrap(tensor.data()); }
PyObject* gradient_function(const Tensor& tensor) { return wrap_node(tensor.grad_fn()); }
PyObject* output_nr(const Tensor& tensor) { return PyLong_FromUnsignedLong(tensor.impl().output_nr); }
PyObject* base(const Tensor& tensor) {
  if (!tensor.impl().base) Py_RETURN_NONE;
  return wrap(Tensor(tensor.impl().base));
}
PyObject* requires_grad(const Tensor& tensor) { return PyBool_FromLong(tensor.requires_grad()); }
PyObject* retains_grad(const Tensor& tensor) {
  const AutogradExtras* extras = tensor.impl().extras.get();
  return PyBool_FromLong(!tensor.is_leaf() && extras && extras->retained);
}
PyObject* gradient(const Tensor& tensor) {
  const AutogradExtras* extras = tensor.impl().extras.get();
  if (!tensor.grad().defined() && !tensor.is_leaf() && !(extras && extras->retained) &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
                   "during autograd.backward(): call .retain_grad() on it before backward, or look at the leaf that it was made of",
                   1) != 0)
    return nullptr;
  return wrap(tensor.grad());
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    if (!value) fail("cannot delete requires_grad");
    if (!PyBool_Check(value)) fail("requires_grad must be a bool");
    tensor_of(self).requires_grad_(to_bool(value), AtCaller());
    return 0;
  });
}
int set_gradient(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    const AtCaller site;
    if (!given(value)) {
      tensor_of(self).grad() = Tensor();
      return 0;
    }
    if (!is_tensor(value)) fail<TypeError>("assigned grad expected to be a Tensor or None but got grad of type ", Py_TYPE(value)->tp_name);
    tensor_of(self).set_grad(tensor_of(value), site);
    return 0;
  });
}
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    if (!value || !is_tensor(value))
      fail<TypeError>("Variable data has to be a tensor, but got ", value ? Py_TYPE(value)->tp_name : "NULL");
    tensor_of(self).set_data(tensor_of(value));
    return 0;
  });
}

PyObject* dictionary(PyObject* self, void* closure) {
  PyObject* const dict = PyObject_GenericGetDict(self, closure);
  if (dict && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
  return dict;
}

PyGetSetDef attributes[] = {
    {"shape", attribute<shape>, nullptr, "Its sizes.", nullptr},
    {"dtype", attribute<dtype>, nullptr, "The type of its elements.", nullptr},
    {"device", attribute<device>, nullptr, "Where it lives.", nullptr},
    {"is_cuda", attribute<is_cuda>, nullptr, "Whether it lives on a GPU.", nullptr},
    {"is_cpu", attribute<is_cpu>, nullptr, "Whether it lives on the CPU.", nullptr},
    {"is_sparse", attribute<no>, nullptr, "False.", nullptr},
    {"is_quantized", attribute<no>, nullptr, "False.", nullptr},
    {"is_meta", attribute<no>, nullptr, "False.", nullptr},
    {"is_mps", attribute<no>, nullptr, "False.", nullptr},
    {"is_nested", attribute<no>, nullptr, "False.", nullptr},
    {"names", attribute<nothing>, nullptr, "None: dimensions have no names.", nullptr},
    {"is_leaf", attribute<is_leaf>, nullptr, "Whether no recorded operation made it.", nullptr},
    {"ndim", attribute<ndim>, nullptr, "How many dimensions it has.", nullptr},
    {"T", attribute<transposed>, nullptr, "The dimensions in the other order.", nullptr},
    {"mT", attribute<matrices_transposed>, nullptr, "The last two dimensions exchanged.", nullptr},
    {"H", attribute<transposed>, nullptr, "T: the elements are real.", nullptr},
    {"itemsize", attribute<itemsize>, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", attribute<nbytes>, nullptr, "Bytes of all elements.", nullptr},
    {"_version", attribute<version>, nullptr, "How often its memory was changed in place.", nullptr},
    {"data", attribute<data>, set_data, "The same values without history.", nullptr},
    {"grad_fn", attribute<gradient_function>, nullptr, "The node of the graph that made it; None for leaves.", nullptr},
    {"output_nr", attribute<output_nr>, nullptr, "Which result of its node it is.", nullptr},
    {"_base", attribute<base>, nullptr, "What it is a view of; None where it is none.", nullptr},
    {"requires_grad", attribute<requires_grad>, set_requires_grad, "Whether operations on it are recorded.", nullptr},
    {"retains_grad", attribute<retains_grad>, nullptr, "Whether it is a result that keeps its gradient.", nullptr},
    {"grad", attribute<gradient>, set_gradient, "What backward has added up; None where there is nothing.", nullptr},
    {"__dict__", dictionary, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* repr(PyObject* self) {
  return guarded([&] {
    const AtCaller site;
    PrintOptions options = get_print_options();
    options.dtype_prefix = module_prefix();
    const PrintOptionsGuard as_python(options);
    return from_text(to_string(tensor_of(self), site));
  });
}

}  // namespace

void add_attributes(PyTypeObject& type) {
  type.tp_getset = attributes;
  type.tp_repr = repr;
}

}  // namespace tandem::python
