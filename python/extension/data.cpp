#include "data.h"

#include <cstring>
#include <functional>
#include <limits>
#include <memory>

#include "bindings.h"
#include "runtime/tracer.h"
#include "tensor/tensor_impl.h"

namespace tandem::python {
namespace {

// --- Nested sequences

bool is_sequence(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  if (PyUnicode_Check(object) || PyBytes_Check(object) || is_tensor(object)) return false;
  if (!PySequence_Check(object)) return false;
  if (PySequence_Size(object) >= 0) return true;
  PyErr_Clear();  // an array without dimensions
  return false;
}

std::optional<DType> dtype_of_number(PyObject* number);

/// What is found in nested sequences: the sizes by the first of each, and the widest kind of number.
struct Found {
  Shape sizes;
  bool any = false, floating = false, integer = false;
  std::optional<DType> of_tensor;  // of tensors with one element among the numbers
};

void note_kind(PyObject* item, Found& found) {
  found.any = true;
  if (PyFloat_CheckExact(item)) {
    found.floating = true;
  } else if (PyBool_Check(item)) {
  } else if (PyLong_Check(item)) {
    found.integer = true;
  } else if (const std::optional<DType> dtype = is_tensor(item) ? tensor_of(item).dtype() : dtype_of_number(item)) {
    found.of_tensor = found.of_tensor ? promote_types(*found.of_tensor, *dtype) : *dtype;
  } else if (PyFloat_Check(item)) {
    found.floating = true;
  } else if (PyComplex_Check(item)) {
    fail<NotImplementedError>("complex numbers are not supported: tandem has no complex dtypes");
  } else if (PyIndex_Check(item)) {
    found.integer = true;
  } else if (PyUnicode_Check(item) || PyBytes_Check(item)) {
    fail<TypeError>("new(): invalid data type '", Py_TYPE(item)->tp_name, '\'');
  } else if (PyNumber_Check(item)) {
    found.floating = true;
  } else {
    fail("Could not infer dtype of ", Py_TYPE(item)->tp_name);
  }
}

void measure(PyObject* data, size_t depth, Found& found) {
  if (!is_sequence(data)) {
    if (is_tensor(data) && tensor_of(data).numel() != 1) fail<ValueError>("only one element tensors can be converted to Python scalars");
    if (depth != found.sizes.size()) fail<TypeError>("expected a sequence at dim ", depth, ", but found ", Py_TYPE(data)->tp_name);
    return note_kind(data, found);
  }
  const Py_ssize_t count = PySequence_Size(data);
  if (count < 0) throw ErrorIsSet();
  if (depth == found.sizes.size()) {
    if (found.any) fail<TypeError>("expected a number at dim ", depth, ", but found ", Py_TYPE(data)->tp_name);
    if (depth >= static_cast<size_t>(kMaxDims)) fail<ValueError>("too many dimensions: a tensor has up to ", kMaxDims);
    found.sizes.push_back(count);
  } else if (found.sizes[depth] != count) {
    fail<ValueError>("expected sequence of length ", found.sizes[depth], " at dim ", depth, " (got ", count, ')');
  }
  if (PyList_Check(data) || PyTuple_Check(data)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(data); ++i) measure(item_of(data, i).get(), depth + 1, found);
  } else {
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Object item = Object::take(checked(PySequence_GetItem(data, i)));
      measure(item.get(), depth + 1, found);
    }
  }
}

/// A whole number as an element; for an unsigned dtype -1 is its largest.
template <class T>
T narrowed(int64_t value, DType dtype) {
  constexpr int64_t largest = std::numeric_limits<T>::max(), smallest = std::is_signed_v<T> ? std::numeric_limits<T>::min() : -largest;
  if (value > largest || value < smallest) fail("value cannot be converted to type ", dtype, " without overflow");
  return static_cast<T>(value);
}

template <class T>
T element(PyObject* item, DType dtype) {
  if constexpr (std::is_same_v<T, bool>) return to_bool(item);
  else if constexpr (std::is_integral_v<T>) {
    if (PyFloat_Check(item) || !PyIndex_Check(item)) {
      const double value = to_double(item);
      if (!(value < 0x1p63 && value >= -0x1p63)) fail("value cannot be converted to type ", dtype, " without overflow");
      return narrowed<T>(static_cast<int64_t>(value), dtype);
    }
    return narrowed<T>(to_int(item), dtype);
  } else if constexpr (std::is_same_v<T, double>) {
    return to_double(item);
  } else {
    return T(static_cast<float>(to_double(item)));
  }
}

/// The sizes were measured before: methods of the items may have changed something since.
[[noreturn]] void refuse_changed() { fail("the data changed its sizes while it was read"); }

template <class T>
void fill_from(PyObject* data, T*& next, T* end, DType dtype) {
  if (!is_sequence(data)) {
    if (next == end || (is_tensor(data) && tensor_of(data).numel() != 1)) refuse_changed();
    *next++ = element<T>(data, dtype);
  } else if (PyList_Check(data) || PyTuple_Check(data)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(data); ++i) fill_from(item_of(data, i).get(), next, end, dtype);
  } else {
    const Py_ssize_t count = PySequence_Size(data);
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Object item = Object::take(checked(PySequence_GetItem(data, i)));
      fill_from(item.get(), next, end, dtype);
    }
  }
}

// --- Buffers

/// The dtype of a buffer's elements, by the format of Python's module struct.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t size) {
  if (!format) return kUInt8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (std::strlen(format) != 1) return {};
  switch (*format) {
    case '?': return kBool;
    case 'B': return kUInt8;
    case 'b': return kInt8;
    case 'h': return kInt16;
    case 'i':
    case 'l':
    case 'q': return size == 4 ? kInt32 : kInt64;
    case 'e': return kFloat16;
    case 'f': return kFloat32;
    case 'd': return kFloat64;
    default: return {};
  }
}

struct Buffer {
  Py_buffer view{};
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (!view.obj || !may_lock()) return;
    const WithLock lock;
    PyBuffer_Release(&view);
  }
};

/// The dtype of one of NumPy's numbers.
std::optional<DType> dtype_of_number(PyObject* number) {
  if (!PyObject_CheckBuffer(number) || PySequence_Check(number)) return {};
  Buffer buffer;
  if (PyObject_GetBuffer(number, &buffer.view, PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return {};
  }
  return dtype_of_format(buffer.view.format, buffer.view.itemsize);
}

/// A dtype of NumPy that stands for none of tandem's.
[[noreturn]] void refuse_format(PyObject* object, const char* format) {
  if (format && *format == '>')
    fail<ValueError>(
        "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not "
        "supported.");
  fail<TypeError>("can't convert ", Py_TYPE(object)->tp_name, " of elements '", format ? format : "",
                  "'. The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool.");
}

bool has_numbers(PyObject* object) { return PyObject_CheckBuffer(object) && !PyBytes_Check(object); }

// --- The module's functions

Parameter tensor_parameters[] = {{"data", Kind::Any, false},
                                 {"dtype", Kind::DType, true, true},
                                 {"device", Kind::Device, true, true},
                                 {"requires_grad", Kind::Bool, true, true},
                                 {"pin_memory", Kind::Bool, true, true}};
Signature tensor_signatures[] = {
    {tensor_parameters, "object data, *, dtype dtype=None, Device device=None, bool requires_grad=False, bool pin_memory=False"}};
const Callable tensor_callable{"tensor", tensor_signatures};

PyObject* module_tensor(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(tensor_signatures[0], nullptr, args, count, names)) return refuse(tensor_callable, nullptr, args, count, names);
    const AtCaller site;
    const std::optional<DType> dtype = given(a[1]) ? std::optional(to_dtype(a[1])) : std::nullopt;
    Tensor made;
    std::optional<Device> device = given(a[2]) ? std::optional(to_device(a[2])) : std::nullopt;
    if (is_tensor(a[0])) {
      const Tensor& source = tensor_of(a[0]);
      if (PyErr_WarnEx(PyExc_UserWarning,
                       "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                       "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
                       1) < 0)
        throw ErrorIsSet();
      made = source.detach().to(device ? *device : source.device(), dtype.value_or(source.dtype()), {.copy = true}, site);
    } else {
      if (!device) device = default_device();
      made = tensor_from(a[0], dtype, site);
      if (given(a[4]) && to_bool(a[4])) made = made.pin_memory(site);
      if (device) made = made.to(*device, {}, site);
    }
    if (given(a[3]) && to_bool(a[3])) made.requires_grad_(true, site);
    return wrap(std::move(made));
  });
}

Parameter as_tensor_parameters[] = {{"data", Kind::Any, false}, {"dtype", Kind::DType, true}, {"device", Kind::Device, true}};
Signature as_tensor_signatures[] = {{as_tensor_parameters, "object data, dtype dtype=None, Device device=None"}};
const Callable as_tensor_callable{"as_tensor", as_tensor_signatures};

PyObject* module_as_tensor(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(as_tensor_signatures[0], nullptr, args, count, names)) return refuse(as_tensor_callable, nullptr, args, count, names);
    const AtCaller site;
    std::optional<Device> device = given(a[2]) ? std::optional(to_device(a[2])) : std::nullopt;
    const std::optional<DType> dtype = given(a[1]) ? std::optional(to_dtype(a[1])) : std::nullopt;
    Tensor made;
    if (is_tensor(a[0])) {
      made = tensor_of(a[0]);
    } else {
      if (!device) device = default_device();
      made = has_numbers(a[0]) ? tensor_of_buffer(a[0], !PySequence_Check(a[0]), site) : tensor_from(a[0], dtype, site);
    }
    return wrap(made.to(device ? *device : made.device(), dtype.value_or(made.dtype()), {}, site));
  });
}

PyObject* module_from_numpy(PyObject*, PyObject* array) {
  return guarded([&] {
    const AtCaller site;
    if (!PyObject_CheckBuffer(array) || !PySequence_Check(array))
      fail<TypeError>("expected np.ndarray (got ", Py_TYPE(array)->tp_name, ')');
    return wrap(tensor_of_buffer(array, false, site));
  });
}

Parameter frombuffer_parameters[] = {{"buffer", Kind::Any, false},
                                     {"dtype", Kind::DType, false, true},
                                     {"count", Kind::Int, true, true},
                                     {"offset", Kind::Int, true, true},
                                     {"requires_grad", Kind::Bool, true, true}};
Signature frombuffer_signatures[] = {
    {frombuffer_parameters, "object buffer, *, dtype dtype, int count=-1, int offset=0, bool requires_grad=False"}};
const Callable frombuffer_callable{"frombuffer", frombuffer_signatures};

PyObject* module_frombuffer(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(frombuffer_signatures[0], nullptr, args, count, names)) return refuse(frombuffer_callable, nullptr, args, count, names);
    const AtCaller site;
    auto buffer = std::make_shared<Buffer>();
    if (PyObject_GetBuffer(a[0], &buffer->view, PyBUF_WRITABLE) != 0) {
      PyErr_Clear();
      if (PyObject_GetBuffer(a[0], &buffer->view, PyBUF_SIMPLE) != 0) throw ErrorIsSet();
    }
    const DType dtype = to_dtype(a[1]);
    const auto size = static_cast<int64_t>(size_of(dtype)), bytes = static_cast<int64_t>(buffer->view.len);
    const int64_t offset = given(a[3]) ? to_int(a[3]) : 0;
    int64_t elements = given(a[2]) ? to_int(a[2]) : -1;
    if (bytes == 0 || elements == 0) fail<ValueError>("both buffer length (", bytes, ") and count (", elements, ") must not be 0");
    if (offset < 0 || offset >= bytes)
      fail<ValueError>("offset (", offset, " bytes) must be non-negative and no greater than buffer length (", bytes, " bytes) minus 1");
    if (elements < 0) {
      if ((bytes - offset) % size != 0)
        fail<ValueError>("buffer length (", bytes - offset, " bytes) after offset (", offset,
                         " bytes) must be a multiple of element size (", size, ')');
      elements = (bytes - offset) / size;
    }
    if (elements > (bytes - offset) / size)
      fail<ValueError>("requested buffer length (", elements, " * ", size, " bytes) after offset (", offset,
                       " bytes) must not be greater than actual buffer length (", bytes, " bytes)");
    Tensor made = from_blob(
        static_cast<char*>(buffer->view.buf) + offset, {elements}, [buffer](void*) mutable { buffer.reset(); }, {.dtype = dtype}, site);
    if (given(a[4]) && to_bool(a[4])) made.requires_grad_(true, site);
    return wrap(std::move(made));
  });
}

/// The values as nested lists of Python's numbers.
PyObject* nested(const Tensor& tensor, size_t dim, int64_t& at) {
  if (dim == tensor.sizes().size())
    return visit(tensor.dtype(), [&](auto zero) -> PyObject* {
      using T = decltype(zero);
      const T value = static_cast<const T*>(tensor.impl().data)[at++];
      if constexpr (std::is_same_v<T, bool>) return PyBool_FromLong(value);
      else if constexpr (std::is_integral_v<T>) return PyLong_FromLongLong(value);
      else if constexpr (sizeof(T) == 2) return PyFloat_FromDouble(static_cast<double>(static_cast<float>(value)));
      else return PyFloat_FromDouble(static_cast<double>(value));
    });
  Object list = Object::take(checked(PyList_New(tensor.sizes()[dim])));
  for (int64_t i = 0; i < tensor.sizes()[dim]; ++i) PyList_SET_ITEM(list.get(), i, checked(nested(tensor, dim + 1, at)));
  return list.release();
}

PyMethodDef functions[] = {
    fast("tensor", module_tensor,
         "tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)\n\nA new tensor with a copy of the data."),
    fast("as_tensor", module_as_tensor,
         "as_tensor(data, dtype=None, device=None)\n\nA tensor of the data, over the same memory where that can be."),
    {"from_numpy", module_from_numpy, METH_O, "from_numpy(ndarray)\n\nA tensor over the array's memory."},
    fast("frombuffer", module_frombuffer,
         "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False)\n\nA tensor of one dimension over the buffer's memory."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* nested_list(const Tensor& tensor, Site site) {
  const Tensor dense = tensor.detach().cpu(site).contiguous(site);
  int64_t at = 0;
  return checked(nested(dense, 0, at));
}

const char* buffer_format(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "?";
    case DType::UInt8: return "B";
    case DType::Int8: return "b";
    case DType::Int16: return "h";
    case DType::Int32: return "i";
    case DType::Int64: return sizeof(long) == 8 ? "l" : "q";  // the one that NumPy calls int64
    case DType::Float16: return "e";
    case DType::BFloat16: return nullptr;
    case DType::Float32: return "f";
    case DType::Float64: return "d";
  }
  return nullptr;
}

/// Where the thread traces a module, numbers that Python gave are constants of it, as those of C++'s tensor() are.
void tell_written(const Tensor& made) {
  if (runtime::Tracer* const tracer = runtime::tracer()) tracer->wrote(made.impl().data);
}

Tensor tensor_of_buffer(PyObject* object, bool copied, Site site) {
  auto buffer = std::make_shared<Buffer>();
  if (PyObject_GetBuffer(object, &buffer->view, PyBUF_RECORDS) != 0) {
    PyErr_Clear();
    if (PyObject_GetBuffer(object, &buffer->view, PyBUF_RECORDS_RO) != 0) throw ErrorIsSet();
    if (!copied &&
        PyErr_WarnEx(
            PyExc_UserWarning,
            "The given NumPy array is not writable, and tandem does not support non-writable tensors. Writing to this tensor is undefined "
            "behavior: copy the array first to protect its data.",
            1) < 0)
      throw ErrorIsSet();
  }
  const Py_buffer& view = buffer->view;
  const std::optional<DType> dtype = dtype_of_format(view.format, view.itemsize);
  if (!dtype || static_cast<Py_ssize_t>(size_of(*dtype)) != view.itemsize) refuse_format(object, view.format);
  if (view.ndim > kMaxDims) fail<ValueError>("too many dimensions: ", view.ndim, "; a tensor has up to ", kMaxDims);
  Shape sizes, strides;
  bool whole = true, negative = false;
  for (int i = 0; i < view.ndim; ++i) {
    sizes.push_back(view.shape[i]);
    const Py_ssize_t stride = view.strides ? view.strides[i] : 0;
    negative = negative || (stride < 0 && view.shape[i] > 1);
    whole = whole && stride % view.itemsize == 0;
    strides.push_back(stride < 0 ? 0 : stride / view.itemsize);
  }
  if (copied) {
    Tensor made = empty(sizes, {.dtype = *dtype, .device = Device()}, site);
    if (made.numel() && PyBuffer_ToContiguous(made.impl().data, const_cast<Py_buffer*>(&view), view.len, 'C') != 0) throw ErrorIsSet();
    tell_written(made);
    return made;
  }
  if (negative)
    fail<ValueError>(
        "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can "
        "probably work around this by making a copy of your array  with array.copy().)");
  if (!whole) fail<ValueError>("given numpy array has a stride that is no multiple of its element's size: copy it first");
  void* const data = view.buf;
  return from_blob(
      data, sizes, strides, [buffer](void*) mutable { buffer.reset(); }, {.dtype = *dtype, .device = Device()}, site);
}

Tensor tensor_from(PyObject* data, std::optional<DType> dtype, Site site) {
  if (has_numbers(data)) {
    const Tensor made = tensor_of_buffer(data, true, site);
    return dtype ? made.to(*dtype, {}, site) : made;
  }
  Found found;
  measure(data, 0, found);
  if (!dtype) {
    dtype = !found.any || found.floating ? get_default_dtype() : found.integer ? kInt64 : kBool;
    if (found.of_tensor) dtype = found.floating || found.integer ? promote_types(*found.of_tensor, *dtype) : *found.of_tensor;
  }
  Tensor made = empty(found.sizes, {.dtype = *dtype, .device = Device()}, site);
  visit(*dtype, [&](auto zero) {
    using T = decltype(zero);
    T* next = static_cast<T*>(made.impl().data);
    T* const end = next + made.numel();
    if (made.numel()) fill_from<T>(data, next, end, *dtype);
    if (next != end) refuse_changed();
  });
  tell_written(made);
  return made;
}

bool add_data(PyObject* module) {
  for (const Callable* callable : {&tensor_callable, &as_tensor_callable, &frombuffer_callable}) prepare(*callable);
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace tandem::python
