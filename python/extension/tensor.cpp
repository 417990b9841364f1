// One object for one tensor. The object holds the tensor, as any handle does, and the tensor knows its object. Where Python lets go of an
// object that has attributes or a class of its own while C++ still holds the tensor, the tensor keeps the object: a Parameter that only an
// optimizer holds comes back as the same Parameter.
#include "tensor.h"

#include <cstring>
#include <string>

#include "caller.h"
#include "errors.h"
#include "values.h"

namespace tandem::python {

PyTypeObject tensor_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

constexpr int kMostFree = 64;
PyTensor* free_objects[kMostFree];  // of the plain type, ready to be used again
int free_count = 0;

tandem::detail::Wrapper& wrapper_of(const Tensor& tensor) { return tensor.impl().wrapper; }

/// Makes `object` stand for the tensor.
void attach(PyTensor* object, Tensor tensor) {
  new (&object->tensor) Tensor(std::move(tensor));
  object->dict = object->weak = nullptr;
  if (object->tensor.defined()) wrapper_of(object->tensor) = {object, false};
}

/// C++ lets go of a tensor that has kept its object.
void ended(void* object) {
  if (!may_lock()) return;
  const WithLock lock;
  auto* self = static_cast<PyTensor*>(object);
  new (&self->tensor) Tensor();  // the count was the tensor's own
  Py_DECREF(static_cast<PyObject*>(object));
}

/// Whether the object is to live on with its tensor, which somebody else holds: it has what a new object would lack.
bool lives_on(PyTensor* self) {
  if (!self->tensor.defined() || self->tensor.ref()->use_count() <= 1) return false;
  return Py_TYPE(self) != &tensor_type || (self->dict && PyDict_GET_SIZE(self->dict) > 0) || self->weak;
}

void deallocate(PyObject* object) {
  auto* self = reinterpret_cast<PyTensor*>(object);
  PyTypeObject* const type = Py_TYPE(object);
  if (self->tensor.defined()) {
    tandem::detail::Wrapper& wrapper = wrapper_of(self->tensor);
    if (wrapper.object == self && lives_on(self)) {
      Py_SET_REFCNT(object, 1);  // the tensor's own
      wrapper.kept = true;
      self->tensor.impl().release();  // from now on the tensor holds the object, not the other way round
      return;
    }
    if (wrapper.object == self) wrapper = {};
  }
  if (type->tp_finalize) {
    if (!PyObject_GC_IsTracked(object)) PyObject_GC_Track(object);  // as a finalizer finds every object of a class
    if (PyObject_CallFinalizerFromDealloc(object) < 0) return;
  }
  if (PyObject_GC_IsTracked(object)) PyObject_GC_UnTrack(object);
  if (self->weak) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self->dict);
  const Tensor last = std::move(self->tensor);  // ends when the object is done with: what it lets go of may call Python
  self->tensor.~Tensor();
  if (type == &tensor_type && free_count < kMostFree) {
    free_objects[free_count++] = self;
  } else {
    type->tp_free(object);
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
  }
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  auto* self = reinterpret_cast<PyTensor*>(object);
  Py_VISIT(self->dict);  // a subclass's own traverse visits its type
  return 0;
}

int clear(PyObject* object) {
  auto* self = reinterpret_cast<PyTensor*>(object);
  Py_CLEAR(self->dict);
  return 0;
}

/// An object with attributes may be a part of a cycle; the collector does not see others.
int set_attribute(PyObject* object, PyObject* name, PyObject* value) {
  const int result = PyObject_GenericSetAttr(object, name, value);
  if (result == 0 && reinterpret_cast<PyTensor*>(object)->dict && !PyObject_GC_IsTracked(object)) PyObject_GC_Track(object);
  return result;
}

Py_hash_t hash(PyObject* object) { return reinterpret_cast<Py_hash_t>(object); }  // as id() has it

PyObject* subclassed(PyObject* type, PyObject*) {
  // A subclass would get Python's own deallocation, which ends an object for good.
  reinterpret_cast<PyTypeObject*>(type)->tp_dealloc = deallocate;
  Py_RETURN_NONE;
}

const PyMethodDef life_method = {"__init_subclass__", subclassed, METH_NOARGS | METH_CLASS, nullptr};

PyTensor* allocate(PyTypeObject* type) {
  if (type == &tensor_type && free_count > 0) {
    PyTensor* const object = free_objects[--free_count];
    _Py_NewReference(reinterpret_cast<PyObject*>(object));
    return object;
  }
  if (type->tp_basicsize == static_cast<Py_ssize_t>(sizeof(PyTensor))) {
    auto* object = PyObject_GC_New(PyTensor, type);
    if (!object) throw ErrorIsSet();
    return object;
  }
  PyObject* const object = checked(type->tp_alloc(type, 0));  // a subclass with __slots__
  if (PyObject_GC_IsTracked(object)) PyObject_GC_UnTrack(object);
  return reinterpret_cast<PyTensor*>(object);
}

}  // namespace

PyObject* wrap(Tensor tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  tandem::detail::Wrapper& wrapper = wrapper_of(tensor);
  if (auto* object = static_cast<PyObject*>(wrapper.object)) {
    if (!wrapper.kept) return Py_NewRef(object);
    wrapper.kept = false;
    tensor.impl().retain();  // for the object, whose handle names it already; the tensor's reference to the object becomes the caller's
    return object;
  }
  PyTensor* const object = allocate(&tensor_type);
  attach(object, std::move(tensor));
  return reinterpret_cast<PyObject*>(object);
}

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  if (tensor.defined() && wrapper_of(tensor).object)
    fail("a tensor has an object in Python already: it cannot get another of class ", type->tp_name);
  PyTensor* const object = allocate(type);
  attach(object, std::move(tensor));
  return reinterpret_cast<PyObject*>(object);
}

PyObject* wrap_tuple(std::vector<Tensor> tensors) {
  Object tuple = Object::take(checked(PyTuple_New(static_cast<Py_ssize_t>(tensors.size()))));
  for (size_t i = 0; i < tensors.size(); ++i) PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(std::move(tensors[i])));
  return tuple.release();
}

std::vector<Tensor> to_tensors(PyObject* object) {
  std::vector<Tensor> tensors;
  if (!given(object)) return tensors;
  if (is_tensor(object)) {
    tensors.push_back(tensor_of(object));
    return tensors;
  }
  const Object list = Object::take(checked(PySequence_Fast(object, "expected a sequence of tensors")));
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list.get());
  tensors.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = PySequence_Fast_GET_ITEM(list.get(), i);
    if (!given(item)) {
      tensors.emplace_back();
      continue;
    }
    if (!is_tensor(item)) fail<TypeError>("expected Tensor as element ", i, " in argument 0, but got ", Py_TYPE(item)->tp_name);
    tensors.push_back(tensor_of(item));
  }
  return tensors;
}

const Tensor& checked_tensor(PyObject* object) {
  if (!is_tensor(object)) fail<TypeError>("expected Tensor, but got ", Py_TYPE(object)->tp_name);
  return tensor_of(object);
}

Operand to_operand(PyObject* object, Site site) {
  if (is_tensor(object)) return {tensor_of(object), site};
  return {to_scalar(object), site};
}

void prepare_tensor_type() {
  tandem::detail::wrapper_ended.store(ended, std::memory_order_release);
  PyTypeObject& type = tensor_type;
  type.tp_name = "tandem.Tensor";
  type.tp_doc = "An array of numbers of one dtype on a device, with its place in the graph of gradients.";
  type.tp_basicsize = sizeof(PyTensor);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_dealloc = deallocate;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
  type.tp_hash = hash;
  type.tp_setattro = set_attribute;
  type.tp_free = PyObject_GC_Del;
  type.tp_dictoffset = offsetof(PyTensor, dict);
  type.tp_weaklistoffset = offsetof(PyTensor, weak);
}

const PyMethodDef& tensor_life_method() { return life_method; }

}  // namespace tandem::python
