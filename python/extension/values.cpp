#include "values.h"

#include <cmath>
#include <string>

#include "caller.h"
#include "errors.h"
#include "tensor.h"

namespace tandem::python {
namespace {

std::string prefix = "tandem.";
constexpr int64_t kLastDevice = 127;  // as device strings have it

// --- dtype
struct PyDType {
  PyObject_HEAD DType value;
};
PyObject* dtypes[kDTypes];

DType dtype_of_object(PyObject* object) { return reinterpret_cast<PyDType*>(object)->value; }
PyObject* dtype_repr(PyObject* self) { return from_text(prefix + name(dtype_of_object(self))); }
PyObject* dtype_is_floating(PyObject* self, void*) { return PyBool_FromLong(is_floating(dtype_of_object(self))); }
PyObject* dtype_is_complex(PyObject*, void*) { Py_RETURN_FALSE; }
PyObject* dtype_is_signed(PyObject* self, void*) {
  const DType dtype = dtype_of_object(self);
  return PyBool_FromLong(dtype != kBool && dtype != kUInt8);
}
PyObject* dtype_itemsize(PyObject* self, void*) { return PyLong_FromSize_t(size_of(dtype_of_object(self))); }
PyObject* dtype_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Object module = Object::take(checked(PyImport_ImportModule("tandem")));
    const Object get = Object::take(checked(PyObject_GetAttrString(module.get(), "_dtype_by_name")));
    return Py_BuildValue("O(s)", get.get(), name(dtype_of_object(self)));
  });
}
PyGetSetDef dtype_attributes[] = {{"is_floating_point", dtype_is_floating, nullptr, "Whether its elements are floating numbers.", nullptr},
                                  {"is_complex", dtype_is_complex, nullptr, "False: there are no complex dtypes.", nullptr},
                                  {"is_signed", dtype_is_signed, nullptr, "Whether it has negative numbers.", nullptr},
                                  {"itemsize", dtype_itemsize, nullptr, "Bytes of an element.", nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

// --- device
struct PyDevice {
  PyObject_HEAD Device value;
};

Device device_of_object(PyObject* object) { return reinterpret_cast<PyDevice*>(object)->value; }
PyObject* device_repr(PyObject* self) { return from_text(device_of_object(self).repr()); }
PyObject* device_str(PyObject* self) { return from_text(device_of_object(self).str()); }
Py_hash_t device_hash(PyObject* self) {
  const Device device = device_of_object(self);
  return (static_cast<Py_hash_t>(device.type()) << 16) + device.index() + 2;
}
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if (!is_device(a) || !is_device(b) || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((device_of_object(a) == device_of_object(b)) == (op == Py_EQ));
}
PyObject* device_type_name(PyObject* self, void*) { return PyUnicode_FromString(device_of_object(self).is_cpu() ? "cpu" : "cuda"); }
PyObject* device_index(PyObject* self, void*) {
  const Device device = device_of_object(self);
  if (device.index() < 0) Py_RETURN_NONE;
  return PyLong_FromLong(device.index());
}
PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"type", "index", nullptr};
  PyObject *type = nullptr, *index = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:device", const_cast<char**>(names), &type, &index)) return nullptr;
  return guarded([&]() -> PyObject* {
    Site::InForce site(caller().file, caller().line);
    if (!given(index)) {
      if (!is_device(type) && !PyUnicode_Check(type) && !is_integer(type))
        fail<TypeError>("device(): argument 'type' (position 1) must be str, not ", Py_TYPE(type)->tp_name);
      return from_device(to_device(type));
    }
    if (!PyUnicode_Check(type)) fail<TypeError>("device(): argument 'type' (position 1) must be str, not ", Py_TYPE(type)->tp_name);
    const int64_t number = to_int(index);
    const std::string text(to_text(type));
    if (text.find(':') != std::string::npos) fail("type (string) must not include an index because index was passed explicitly: ", text);
    if (text == "cpu" && number == 0) return from_device(Device());
    if (number < 0) fail("Device index must not be negative");
    return from_device(Device(std::string_view(str(text, ':', number)), site));
  });
}
/// with device: tensors that are made in the block without a device of their own are made there.
PyObject* device_enter(PyObject* self, PyObject*) {
  return guarded([&] {
    const Object module = Object::take(checked(PyImport_ImportModule("tandem._defaults")));
    return checked(PyObject_CallMethod(module.get(), "_enter_device", "O", self));
  });
}
PyObject* device_exit(PyObject*, PyObject*) {
  return guarded([&] {
    const Object module = Object::take(checked(PyImport_ImportModule("tandem._defaults")));
    return checked(PyObject_CallMethod(module.get(), "_exit_device", nullptr));
  });
}
PyObject* device_call(PyObject* self, PyObject* args, PyObject*) {
  return guarded([&] {
    const Object module = Object::take(checked(PyImport_ImportModule("tandem._defaults")));
    PyObject* function;
    if (!PyArg_ParseTuple(args, "O", &function)) throw ErrorIsSet();
    return checked(PyObject_CallMethod(module.get(), "_on_device", "OO", self, function));
  });
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  return guarded([&] { return Py_BuildValue("O(s)", reinterpret_cast<PyObject*>(&device_type), device_of_object(self).str().c_str()); });
}
PyGetSetDef device_attributes[] = {{"type", device_type_name, nullptr, "'cpu' or 'cuda'.", nullptr},
                                   {"index", device_index, nullptr, "The GPU's number; None for the CPU and the current GPU.", nullptr},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef device_methods[] = {{"__enter__", device_enter, METH_NOARGS, nullptr},
                                {"__exit__", device_exit, METH_VARARGS, nullptr},
                                {"__reduce__", device_reduce, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

// --- Size
PyObject* size_repr(PyObject* self) {
  std::string text = prefix + "Size([";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
    const Object item = Object::take(PyObject_Str(PyTuple_GET_ITEM(self, i)));
    if (!item) return nullptr;
    if (i) text += ", ";
    text += to_text(item.get());
  }
  return from_text(text + "])");
}
/// torch.Size([2, 3]): of anything that has whole numbers.
PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject* given_items = nullptr;
    if (!PyArg_ParseTuple(args, "|O:Size", &given_items)) throw ErrorIsSet();
    const Object items = Object::take(checked(given_items ? PySequence_Tuple(given_items) : PyTuple_New(0)));
    const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
    Object size = Object::take(checked(type->tp_alloc(type, count)));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* const item = PyTuple_GET_ITEM(items.get(), i);
      if (!PyIndex_Check(item))
        fail<TypeError>(prefix, "Size() takes an iterable of 'int' (item ", i, " is '", Py_TYPE(item)->tp_name, "')");
      PyTuple_SET_ITEM(size.get(), i, checked(PyNumber_Index(item)));
    }
    return size.release();
  });
}
PyObject* size_numel(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLongLong(to_shape(self).numel()); });
}
/// A Size of what tuple itself gives: slices, sums and repeats of sizes are sizes.
PyObject* as_size(PyObject* tuple) {
  if (!tuple || !PyTuple_Check(tuple)) return tuple;
  PyObject* const size = PyObject_CallOneArg(reinterpret_cast<PyObject*>(size_type), tuple);
  Py_DECREF(tuple);
  return size;
}
PyObject* size_subscript(PyObject* self, PyObject* key) {
  PyObject* const item = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  return PySlice_Check(key) ? as_size(item) : item;
}
PyObject* size_concat(PyObject* self, PyObject* other) {
  if (!PyTuple_Check(other)) Py_RETURN_NOTIMPLEMENTED;
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(self, other));
}
PyObject* size_repeat(PyObject* self, Py_ssize_t count) { return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, count)); }
PyObject* size_reduce(PyObject* self, PyObject*) {
  const Object list = Object::take(PySequence_List(self));
  return list ? Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(size_type), list.get()) : nullptr;
}
PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS, "How many elements a tensor of this size has."},
                              {"__reduce__", size_reduce, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyTypeObject dtype_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject device_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject* size_type = nullptr;

const char* module_prefix() { return prefix.c_str(); }
void set_module_prefix(const char* text) { prefix = text; }

bool is_integer(PyObject* object) {
  if (PyBool_Check(object)) return false;
  return PyLong_Check(object) || (!PyFloat_Check(object) && !is_tensor(object) && PyIndex_Check(object) && !PySequence_Check(object));
}

PyObject* from_dtype(DType dtype) { return Py_NewRef(dtypes[static_cast<int>(dtype)]); }
PyObject* from_device(Device device) {
  auto* object = PyObject_New(PyDevice, &device_type);
  if (!object) throw ErrorIsSet();
  object->value = device;
  return reinterpret_cast<PyObject*>(object);
}
PyObject* from_shape(const Shape& shape) {
  Object size = Object::take(checked(size_type->tp_alloc(size_type, static_cast<Py_ssize_t>(shape.size()))));
  for (size_t i = 0; i < shape.size(); ++i)
    PyTuple_SET_ITEM(size.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(shape[i])));
  return size.release();
}
PyObject* from_scalar(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool: return PyBool_FromLong(scalar.to<bool>());
    case Scalar::Kind::Integer: return PyLong_FromLongLong(scalar.to<int64_t>());
    case Scalar::Kind::Floating: return PyFloat_FromDouble(scalar.to<double>());
  }
  Py_RETURN_NONE;
}
PyObject* from_text(std::string_view text) { return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())); }

int64_t to_int(PyObject* object) {
  if (is_tensor(object)) return tensor_of(object).item(caller()).to<int64_t>();
  long long value;
  if (PyLong_CheckExact(object)) {
    value = PyLong_AsLongLong(object);
  } else {
    const Object index = Object::take(checked(PyNumber_Index(object)));
    value = PyLong_AsLongLong(index.get());
  }
  if (value == -1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
      PyErr_Clear();
      fail<ValueError>("Overflow when unpacking long long");
    }
    throw ErrorIsSet();
  }
  return value;
}
double to_double(PyObject* object) {
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object);
  if (is_tensor(object)) return tensor_of(object).item(caller()).to<double>();
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) throw ErrorIsSet();
  return value;
}
bool to_bool(PyObject* object) {
  const int truth = object == Py_True ? 1 : object == Py_False ? 0 : PyObject_IsTrue(object);
  if (truth < 0) throw ErrorIsSet();
  return truth == 1;
}
Scalar to_scalar(PyObject* object) {
  if (PyFloat_Check(object)) return {PyFloat_AS_DOUBLE(object)};
  if (PyBool_Check(object)) return {object == Py_True};
  if (is_tensor(object)) return tensor_of(object).item(caller());
  if (PyIndex_Check(object)) return {to_int(object)};
  return {to_double(object)};
}
Shape to_shape(PyObject* object) {
  Shape shape;
  if (!given(object)) return shape;
  if (!PyTuple_Check(object) && !PyList_Check(object)) {
    shape.push_back(to_int(object));
    return shape;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) shape.push_back(to_int(item_of(object, i).get()));
  return shape;
}
std::vector<double> to_doubles(PyObject* object) {
  std::vector<double> numbers;
  if (!PyTuple_Check(object) && !PyList_Check(object)) {
    numbers.push_back(to_double(object));
    return numbers;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) numbers.push_back(to_double(item_of(object, i).get()));
  return numbers;
}
std::string_view to_text(PyObject* object) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text) throw ErrorIsSet();
  return {text, static_cast<size_t>(size)};
}
DType to_dtype(PyObject* object) {
  if (is_dtype(object)) return dtype_of_object(object);
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return kFloat64;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return kInt64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return kBool;
  if (PyObject_TypeCheck(object, &dtype_type)) {
    const Object text = Object::take(checked(PyObject_Repr(object)));
    fail<NotImplementedError>("tandem has no tensors of ", to_text(text.get()));
  }
  fail<TypeError>("dtype must be ", prefix, "dtype, not ", Py_TYPE(object)->tp_name);
}
Device to_device(PyObject* object) {
  if (is_device(object)) return device_of_object(object);
  if (PyUnicode_Check(object)) {
    const Site site = caller();
    return {to_text(object), site};
  }
  const int64_t index = to_int(object);
  if (index < 0) fail("Device index must be non-negative, got ", index);
  if (index > kLastDevice) fail("Device index must be at most ", kLastDevice, ", got ", index);
  return {DeviceType::CUDA, static_cast<int>(index)};
}
Reduction to_reduction(PyObject* object) {
  const std::string_view text = to_text(object);
  if (text == "mean" || text == "elementwise_mean") return Reduction::Mean;
  if (text == "sum") return Reduction::Sum;
  if (text == "none") return Reduction::None;
  if (text == "batchmean") return Reduction::BatchMean;
  fail<ValueError>(text, " is not a valid value for reduction");
}

bool add_values(PyObject* module) {
  dtype_type.tp_name = "tandem.dtype";
  dtype_type.tp_doc = "The type of a tensor's elements.";
  dtype_type.tp_basicsize = sizeof(PyDType);
  dtype_type.tp_flags = Py_TPFLAGS_DEFAULT;
  dtype_type.tp_repr = dtype_repr;
  dtype_type.tp_getset = dtype_attributes;
  dtype_type.tp_methods = dtype_methods;
  device_type.tp_name = "tandem.device";
  device_type.tp_doc = "device(type, index=None): 'cpu', 'cuda' or 'cuda:1'.";
  device_type.tp_basicsize = sizeof(PyDevice);
  device_type.tp_flags = Py_TPFLAGS_DEFAULT;
  device_type.tp_new = device_new;
  device_type.tp_repr = device_repr;
  device_type.tp_str = device_str;
  device_type.tp_hash = device_hash;
  device_type.tp_richcompare = device_compare;
  device_type.tp_getset = device_attributes;
  device_type.tp_methods = device_methods;
  device_type.tp_call = device_call;
  if (PyType_Ready(&dtype_type) < 0 || PyType_Ready(&device_type) < 0) return false;
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(size_new)},
                         {Py_tp_repr, reinterpret_cast<void*>(size_repr)},
                         {Py_tp_methods, size_methods},
                         {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
                         {Py_sq_concat, reinterpret_cast<void*>(size_concat)},
                         {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
                         {Py_tp_doc, const_cast<char*>("The sizes of a tensor's dimensions: a tuple of ints.")},
                         {0, nullptr}};
  PyType_Spec spec{"tandem.Size", 0, 0, Py_TPFLAGS_DEFAULT, slots};
  const Object bases = Object::take(PyTuple_Pack(1, &PyTuple_Type));
  size_type = bases ? reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.get())) : nullptr;
  if (!size_type) return false;
  for (int i = 0; i < kDTypes; ++i) {
    auto* object = PyObject_New(PyDType, &dtype_type);
    if (!object) return false;
    object->value = static_cast<DType>(i);
    dtypes[i] = reinterpret_cast<PyObject*>(object);
    if (PyModule_AddObjectRef(module, name(object->value), dtypes[i]) != 0) return false;
  }
  return PyModule_AddObjectRef(module, "dtype", reinterpret_cast<PyObject*>(&dtype_type)) == 0 &&
         PyModule_AddObjectRef(module, "device", reinterpret_cast<PyObject*>(&device_type)) == 0 &&
         PyModule_AddObjectRef(module, "Size", reinterpret_cast<PyObject*>(size_type)) == 0;
}

}  // namespace tandem::python
