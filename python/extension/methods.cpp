// Methods of Tensor that have no form to be generated from: layout, moving, views by dtype, Python's own protocols.
#include "methods.h"

#include "bindings.h"
#include "data.h"

namespace tandem::python {
namespace {

using Args = PyObject* const*;

// --- Layout

PyObject* size(PyObject* self, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    const AtCaller site;
    PyObject* const dim = only_argument(args, count, names);
    if (!given(dim)) return from_shape(tensor_of(self).sizes());
    if (!is_integer(dim)) fail<TypeError>("size(): argument 'dim' must be int, not ", Py_TYPE(dim)->tp_name);
    return PyLong_FromLongLong(tensor_of(self).size(to_int(dim), site));
  });
}
PyObject* stride(PyObject* self, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    const AtCaller site;
    if (PyObject* const dim = only_argument(args, count, names); given(dim))
      return PyLong_FromLongLong(tensor_of(self).stride(to_int(dim), site));
    const Object sizes = Object::take(from_shape(tensor_of(self).strides()));
    return checked(PySequence_Tuple(Object::take(checked(PySequence_List(sizes.get()))).get()));
  });
}
PyObject* dim(PyObject* self, PyObject*) { return PyLong_FromLongLong(tensor_of(self).dim()); }
PyObject* numel(PyObject* self, PyObject*) { return PyLong_FromLongLong(tensor_of(self).numel()); }
PyObject* element_size(PyObject* self, PyObject*) { return PyLong_FromSize_t(tensor_of(self).element_size()); }
PyObject* storage_offset(PyObject* self, PyObject*) { return PyLong_FromLongLong(tensor_of(self).storage_offset()); }
PyObject* is_floating_point(PyObject* self, PyObject*) { return PyBool_FromLong(tensor_of(self).is_floating_point()); }
PyObject* is_complex(PyObject*, PyObject*) { Py_RETURN_FALSE; }
PyObject* is_signed(PyObject* self, PyObject*) {
  const DType dtype = tensor_of(self).dtype();
  return PyBool_FromLong(dtype != kBool && dtype != kUInt8);
}
PyObject* is_contiguous(PyObject* self, Args, Py_ssize_t, PyObject*) { return PyBool_FromLong(tensor_of(self).is_contiguous()); }
PyObject* is_pinned(PyObject* self, Args, Py_ssize_t, PyObject*) { return PyBool_FromLong(tensor_of(self).is_pinned()); }
PyObject* is_inference(PyObject* self, PyObject*) { return PyBool_FromLong(tensor_of(self).is_inference()); }
PyObject* is_shared(PyObject* self, PyObject*) { return PyBool_FromLong(tensor_of(self).is_shared()); }
PyObject* is_same(PyObject* self, PyObject* other) {
  return PyBool_FromLong(is_tensor(other) && tensor_of(self).is_same(tensor_of(other)));
}
PyObject* get_device(PyObject* self, PyObject*) { return PyLong_FromLong(tensor_of(self).device().index()); }
PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromVoidPtr(tensor_of(self).data_ptr(caller())); });
}
/// Where its memory begins, whichever part of it this tensor is: the same for a tensor and its views.
PyObject* storage_address(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromVoidPtr(tensor_of(self).impl().storage->user_data()); });
}
PyObject* storage_bytes(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromSize_t(tensor_of(self).impl().storage->bytes()); });
}

// --- Views

Parameter view_parameters[] = {{"self", Kind::Tensor}, {"size", Kind::Shape}};
Signature view_signatures[] = {{view_parameters, "tuple of ints size", true}};
const Callable view_callable{"view", view_signatures};
PyObject* view(PyObject* self, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    const AtCaller site;
    const bool as_dtype =
        names && count == 0 && PyTuple_GET_SIZE(names) == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "dtype") == 0;
    if ((as_dtype || (count == 1 && !names)) && is_dtype(args[0])) return wrap(tensor_of(self).view(to_dtype(args[0]), site));
    if (!a.fit(view_signatures[0], self, args, count, names)) return refuse(view_callable, self, args, count, names);
    return wrap(tensor_of(self).view(to_shape(a[1]), site));
  });
}
PyObject* contiguous(PyObject* self, Args, Py_ssize_t, PyObject*) {
  return guarded([&] { return wrap(tensor_of(self).contiguous(AtCaller())); });
}
PyObject* clone(PyObject* self, Args, Py_ssize_t, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    return wrap(tensor_of(self).clone(site));
  });
}
PyObject* detach(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(tensor_of(self).detach()); });
}
PyObject* detach_in_place(PyObject* self, PyObject*) {
  return guarded([&] {
    tensor_of(self).detach_(AtCaller());
    return Py_NewRef(self);
  });
}
PyObject* retain_grad(PyObject* self, PyObject*) {
  return guarded([&] {
    tensor_of(self).retain_grad(AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* requires_grad_(PyObject* self, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    PyObject* const required = only_argument(args, count, names);
    tensor_of(self).requires_grad_(!required || to_bool(required), AtCaller());
    return Py_NewRef(self);
  });
}

// --- Moving

/// What `to` was told, by whatever of its forms.
struct Target {
  std::optional<Device> device;
  std::optional<DType> dtype;
  ToOptions options;
};

void take(PyObject* object, Target& target, int& flags) {
  if (PyObject_TypeCheck(object, &dtype_type) || PyType_Check(object)) target.dtype = to_dtype(object);
  else if (is_tensor(object)) target.device = tensor_of(object).device(), target.dtype = tensor_of(object).dtype();
  else if (PyBool_Check(object)) (flags++ == 0 ? target.options.non_blocking : target.options.copy) = to_bool(object);
  else if (is_device(object) || PyUnicode_Check(object) || is_integer(object)) target.device = to_device(object);
  else if (object != Py_None)
    fail<TypeError>("to() received an invalid combination of arguments - got ", Py_TYPE(object)->tp_name,
                    "; it takes a dtype, a device or a tensor");
}

Target target_of(Args args, Py_ssize_t count, PyObject* names, const char* op) {
  Target target;
  int flags = 0;
  for (Py_ssize_t i = 0; i < count; ++i) take(args[i], target, flags);
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
    const std::string_view name = to_text(PyTuple_GET_ITEM(names, i));
    PyObject* const value = args[count + i];
    if (name == "non_blocking") target.options.non_blocking = to_bool(value);
    else if (name == "copy") target.options.copy = to_bool(value);
    else if (name == "device" || name == "dtype" || name == "other" || name == "tensor") take(value, target, flags);
    else if (name != "memory_format") fail<TypeError>(op, "() got an unexpected keyword argument '", name, '\'');
  }
  return target;
}

PyObject* move_to(PyObject* self, const Target& target, const AtCaller& site) {
  const Tensor& tensor = tensor_of(self);
  Tensor moved;
  {
    const WithoutLock unlocked(is_large(tensor));
    moved = tensor.to(target.device.value_or(tensor.device()), target.dtype.value_or(tensor.dtype()), target.options, site);
  }
  return wrap(std::move(moved));
}

PyObject* to(PyObject* self, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const AtCaller site;
    return move_to(self, target_of(args, count, names, "to"), site);
  });
}
PyObject* cuda(PyObject* self, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const AtCaller site;
    Target target = target_of(args, count, names, "cuda");
    if (!target.device) target.device = Device(DeviceType::CUDA);
    if (!target.device->is_cuda()) fail("Invalid device, must be cuda device");
    return move_to(self, target, site);
  });
}
PyObject* cpu(PyObject* self, Args, Py_ssize_t, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    return wrap(tensor_of(self).cpu(site));
  });
}
template <DType dtype>
PyObject* as_dtype(PyObject* self, Args, Py_ssize_t, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    Target target;
    target.dtype = dtype;
    return move_to(self, target, site);
  });
}
PyObject* pin_memory(PyObject* self, Args, Py_ssize_t, PyObject*) {
  return guarded([&] { return wrap(tensor_of(self).pin_memory(AtCaller())); });
}
PyObject* share_memory_(PyObject* self, PyObject*) {
  return guarded([&] {
    tensor_of(self).share_memory_(AtCaller());
    return Py_NewRef(self);
  });
}
Parameter copy_parameters[] = {{"self", Kind::Tensor}, {"other", Kind::Operand}, {"non_blocking", Kind::Bool, true}};
Signature copy_signatures[] = {{copy_parameters, "Tensor other, bool non_blocking=False"}};
const Callable copy_callable{"copy_", copy_signatures};
PyObject* copy_(PyObject* self, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(copy_signatures[0], self, args, count, names)) return refuse(copy_callable, self, args, count, names);
    const AtCaller site;
    if (!is_tensor(a[1])) tensor_of(self).fill_(to_operand(a[1], site), site);
    else tensor_of(self).copy_(tensor_of(a[1]), given(a[2]) && to_bool(a[2]), site);
    return Py_NewRef(self);
  });
}

// --- Values

PyObject* item(PyObject* self, PyObject*) {
  return guarded([&] { return from_scalar(tensor_of(self).item(AtCaller())); });
}
PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] { return nested_list(tensor_of(self), AtCaller()); });
}
Parameter index_put_parameters[] = {
    {"self", Kind::Tensor}, {"indices", Kind::Any}, {"values", Kind::Operand}, {"accumulate", Kind::Bool, true}};
Signature index_put_signatures[] = {{index_put_parameters, "tuple of Tensors indices, Tensor values, bool accumulate=False"}};
const Callable index_put_callable{"index_put_", index_put_signatures};
PyObject* index_put_(PyObject* self, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(index_put_signatures[0], self, args, count, names)) return refuse(index_put_callable, self, args, count, names);
    const AtCaller site;
    std::vector<Index> indices;
    for (const Tensor& index : to_tensors(a[1])) {
      if (index.defined()) indices.emplace_back(index);
      else indices.emplace_back(Slice());
    }
    tensor_of(self).index_put_(indices, to_operand(a[2], site), given(a[3]) && to_bool(a[3]), site);
    return Py_NewRef(self);
  });
}

// --- Life

Parameter subclass_parameters[] = {{"cls", Kind::Any}, {"data", Kind::Tensor}, {"requires_grad", Kind::Bool, true}};
Signature subclass_signatures[] = {{subclass_parameters, "type cls, Tensor data, bool requires_grad=False"}};
const Callable subclass_callable{"_make_subclass", subclass_signatures};

PyObject* make_subclass(PyObject*, Args args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(subclass_signatures[0], nullptr, args, count, names)) return refuse(subclass_callable, nullptr, args, count, names);
    if (!PyType_Check(a[0]) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(a[0]), &tensor_type))
      fail<TypeError>("_make_subclass(): cls must be a class below Tensor");
    const Tensor tensor = tensor_of(a[1]).detach();
    if (given(a[2]) && to_bool(a[2])) tensor.requires_grad_(true, AtCaller());
    return wrap_as(reinterpret_cast<PyTypeObject*>(a[0]), tensor);
  });
}

const PyMethodDef methods[] = {
    fast("size", size, "size(dim=None)\n\nThe sizes, or that of one dimension."),
    fast("stride", stride, "stride(dim=None)\n\nHow many elements lie between neighbours of each dimension, or of one."),
    {"dim", dim, METH_NOARGS, "How many dimensions it has."},
    {"ndimension", dim, METH_NOARGS, "How many dimensions it has."},
    {"numel", numel, METH_NOARGS, "How many elements it has."},
    {"nelement", numel, METH_NOARGS, "How many elements it has."},
    {"element_size", element_size, METH_NOARGS, "Bytes of an element."},
    {"storage_offset", storage_offset, METH_NOARGS, "How many elements of its memory lie before its first one."},
    {"is_floating_point", is_floating_point, METH_NOARGS, "Whether its elements are floating numbers."},
    {"is_complex", is_complex, METH_NOARGS, "False."},
    {"is_signed", is_signed, METH_NOARGS, "Whether its dtype has negative numbers."},
    fast("is_contiguous", is_contiguous, "Whether its elements are dense, in row-major order."),
    fast("is_pinned", is_pinned, "Whether it lies in page-locked memory."),
    {"is_inference", is_inference, METH_NOARGS,
     "Whether it was made in a block of inference_mode, and not as a view of a tensor from outside."},
    {"is_shared", is_shared, METH_NOARGS, "Whether other processes can see its memory."},
    fast("is_set_to", with_name<is_same, "tensor">, "Whether both are one tensor."),
    {"get_device", get_device, METH_NOARGS, "The number of its GPU; -1 on the CPU."},
    {"data_ptr", data_ptr, METH_NOARGS, "The address of its first element, as a program may know it."},
    {"_storage_address", storage_address, METH_NOARGS, nullptr},
    {"_storage_bytes", storage_bytes, METH_NOARGS, nullptr},
    fast("view", view, "view(*shape)\n\nThe same elements with other sizes."),
    fast("contiguous", contiguous, "Itself where it is dense, else a copy that is."),
    fast("clone", clone, "A copy, with its place in the graph."),
    {"detach", detach, METH_NOARGS, "The same values without history."},
    {"detach_", detach_in_place, METH_NOARGS, "Forgets its own history."},
    {"retain_grad", retain_grad, METH_NOARGS, "Keeps .grad of a result too."},
    fast("requires_grad_", requires_grad_, "requires_grad_(requires_grad=True)\n\nWhether operations on it are recorded."),
    fast("to", to, "to(device=None, dtype=None, non_blocking=False, copy=False)\n\nOn a device, of a dtype: itself where nothing changes."),
    fast("cuda", cuda, "cuda(device=None, non_blocking=False)\n\nOn a GPU."),
    fast("cpu", cpu, "On the CPU: itself where it is there."),
    fast("float", as_dtype<kFloat32>),
    fast("double", as_dtype<kFloat64>),
    fast("half", as_dtype<kFloat16>),
    fast("bfloat16", as_dtype<kBFloat16>),
    fast("long", as_dtype<kInt64>),
    fast("int", as_dtype<kInt32>),
    fast("short", as_dtype<kInt16>),
    fast("char", as_dtype<kInt8>),
    fast("byte", as_dtype<kUInt8>),
    fast("bool", as_dtype<kBool>),
    fast("pin_memory", pin_memory, "A copy in page-locked memory; itself where it is there."),
    {"share_memory_", share_memory_, METH_NOARGS, "Moves its values into memory that processes share."},
    fast("copy_", copy_, "copy_(other, non_blocking=False)\n\nTakes over the values of another tensor."),
    {"item", item, METH_NOARGS, "The one element as a number."},
    {"tolist", tolist, METH_NOARGS, "The elements as nested lists of numbers."},
    fast("index_put_", index_put_, "index_put_(indices, values, accumulate=False)"),
    {"_make_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(make_subclass)), METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "_make_subclass(cls, data, require_grad=False)\n\nAn instance of cls over the same memory, without history."},
};

}  // namespace

void register_methods() {
  for (const Callable* callable : {&view_callable, &copy_callable, &index_put_callable, &subclass_callable}) prepare(*callable);
  for (const PyMethodDef& method : methods) add_to(Place::Method, method);
}

}  // namespace tandem::python
