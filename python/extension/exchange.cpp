// Memory that other libraries look into: the buffer protocol, and DLPack both ways (https://dmlc.github.io/dlpack/latest/c_api.html).
#include "exchange.h"

#include <memory>

#include "bindings.h"
#include "data.h"
#include "operators.h"

namespace tandem::python {
namespace {

// --- The buffer protocol

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded_int([&] {
    const AtCaller site;
    const Tensor& tensor = tensor_of(self);
    view->obj = nullptr;
    if (tensor.requires_grad()) fail("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
    if (!tensor.is_cpu())
      fail<TypeError>("can't convert ", tensor.device(),
                      " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.");
    const char* const format = buffer_format(tensor.dtype());
    if (!format) fail<TypeError>("Got unsupported ScalarType ", scalar_name(tensor.dtype()));
    if (!(flags & PyBUF_STRIDES) && !tensor.is_contiguous()) {
      PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous: call contiguous() first");
      throw ErrorIsSet();
    }
    const auto dims = static_cast<size_t>(tensor.dim());
    void* const data = tensor.data_ptr(site);
    auto* const numbers = new Py_ssize_t[2 * dims + 1];
    for (size_t i = 0; i < dims; ++i) {
      numbers[i] = tensor.sizes()[i];
      numbers[dims + i] = tensor.strides()[i] * static_cast<Py_ssize_t>(tensor.element_size());
    }
    view->buf = data;
    view->obj = Py_NewRef(self);
    view->len = static_cast<Py_ssize_t>(tensor.nbytes());
    view->itemsize = static_cast<Py_ssize_t>(tensor.element_size());
    view->readonly = 0;
    view->ndim = static_cast<int>(dims);
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->shape = flags & PyBUF_ND ? numbers : nullptr;
    view->strides = flags & PyBUF_STRIDES ? numbers + dims : nullptr;
    view->suboffsets = nullptr;
    view->internal = numbers;
    return 0;
  });
}
void release_buffer(PyObject*, Py_buffer* view) { delete[] static_cast<Py_ssize_t*>(view->internal); }

// --- DLPack's structs, as its page describes them

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};
struct DLPackVersion {
  uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
};
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;
enum : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3 };
enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kBoolean = 6 };

DLDataType dl_dtype(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * size_of(dtype));
  const uint8_t code = dtype == kBool       ? kBoolean
                       : dtype == kUInt8    ? kUInt
                       : dtype == kBFloat16 ? kBfloat
                       : is_floating(dtype) ? kFloat
                                            : kInt;
  return {code, bits, 1};
}
std::optional<DType> dtype_of_dl(DLDataType type) {
  if (type.lanes != 1) return {};
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const DLDataType ours = dl_dtype(dtype);
    if (ours.code == type.code && ours.bits == type.bits) return dtype;
  }
  return {};
}

/// What a consumer holds: the tensor, and the numbers that the struct points to.
template <class Managed>
struct Exported {
  Tensor tensor;
  Shape sizes, strides;
  Managed managed{};
};

template <class Managed>
Managed* exported(const Tensor& tensor) {
  auto held = std::make_unique<Exported<Managed>>(Exported<Managed>{tensor, tensor.sizes(), tensor.strides()});
  Managed& managed = held->managed;
  managed.manager_ctx = held.get();
  managed.deleter = [](Managed* done) { delete static_cast<Exported<Managed>*>(done->manager_ctx); };
  DLTensor& out = managed.tensor;
  out.data = tensor.data_ptr(Site::none());
  out.device = tensor.is_cpu() ? DLDevice{kCpu, 0} : DLDevice{kCuda, tensor.device().index()};
  out.ndim = static_cast<int32_t>(tensor.dim());
  out.dtype = dl_dtype(tensor.dtype());
  out.shape = held->sizes.data();
  out.strides = held->strides.data();
  out.byte_offset = 0;
  return &held.release()->managed;
}

template <class Managed>
void end_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // somebody has taken it over
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed && managed->deleter) managed->deleter(managed);
}

Parameter dlpack_parameters[] = {{"self", Kind::Tensor},
                                 {"stream", Kind::Any, true, true},
                                 {"max_version", Kind::Any, true, true},
                                 {"dl_device", Kind::Any, true, true},
                                 {"copy", Kind::Bool, true, true}};
Signature dlpack_signatures[] = {{dlpack_parameters, "*, int stream=None, tuple max_version=None, tuple dl_device=None, bool copy=None"}};
const Callable dlpack_callable{"__dlpack__", dlpack_signatures};

PyObject* dlpack(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(dlpack_signatures[0], self, args, count, names)) return refuse(dlpack_callable, self, args, count, names);
    const AtCaller site;
    Tensor tensor = tensor_of(self);
    if (tensor.requires_grad()) {
      PyErr_SetString(PyExc_BufferError, "Can't export tensors that require gradient, use tensor.detach()");
      throw ErrorIsSet();
    }
    if (tensor.is_cuda() && cuda::get_device_properties(tensor.device()).is_virtual) {
      PyErr_SetString(PyExc_BufferError, "the memory of a virtual GPU is not for other libraries: call cpu() first");
      throw ErrorIsSet();
    }
    const bool copied = given(a[4]) && to_bool(a[4]);
    if (copied) tensor = tensor.clone(site);
    if (tensor.is_cuda() && !(given(a[1]) && is_integer(a[1]) && to_int(a[1]) == -1))
      cuda::current_stream(tensor.device()).synchronize(site);
    if (given(a[2])) {
      const Object major = Object::take(checked(PySequence_GetItem(a[2], 0)));
      if (to_int(major.get()) >= 1) {
        auto* managed = exported<DLManagedTensorVersioned>(tensor);
        managed->version = {1, 0};
        managed->flags = copied ? kIsCopied : 0;
        return PyCapsule_New(managed, "dltensor_versioned",
                             [](PyObject* capsule) { end_capsule<DLManagedTensorVersioned>(capsule, "dltensor_versioned"); });
      }
    }
    return PyCapsule_New(exported<DLManagedTensor>(tensor), "dltensor",
                         [](PyObject* capsule) { end_capsule<DLManagedTensor>(capsule, "dltensor"); });
  });
}
PyObject* dlpack_device(PyObject* self, PyObject*) {
  const Device device = tensor_of(self).device();
  return Py_BuildValue("ii", device.is_cpu() ? kCpu : kCuda, device.is_cpu() ? 0 : device.index());
}

template <class Managed>
Tensor imported(PyObject* capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (!managed) throw ErrorIsSet();
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>)
    if (managed->version.major > 1) {
      PyErr_Format(PyExc_BufferError, "DLPack of version %u.%u: tandem reads version 1", managed->version.major, managed->version.minor);
      throw ErrorIsSet();
    }
  const DLTensor& in = managed->tensor;
  const std::optional<DType> dtype = dtype_of_dl(in.dtype);
  if (!dtype)
    fail<TypeError>("DLPack elements of code ", static_cast<int>(in.dtype.code), " with ", static_cast<int>(in.dtype.bits),
                    " bits have no dtype in tandem");
  if (in.device.device_type != kCpu && in.device.device_type != kCudaHost && in.device.device_type != kCuda)
    fail("DLPack memory of a device of type ", in.device.device_type, ": tandem takes memory of the CPU and of CUDA GPUs");
  Options options{.dtype = *dtype, .device = Device()};
  if (in.device.device_type == kCuda) {
    options.device = gpu(in.device.device_id);
    if (cuda::get_device_properties(*options.device).is_virtual)
      fail("DLPack memory of a CUDA GPU, but this program's GPUs are virtual ones");
  }
  const auto dims = static_cast<size_t>(in.ndim);
  const Shape sizes(in.shape, dims);
  Shape strides;
  if (in.strides) strides = Shape(in.strides, dims);
  else {
    strides.resize(dims);
    int64_t stride = 1;
    for (size_t i = dims; i-- > 0;) {
      strides[i] = stride;
      stride *= sizes[i];
    }
  }
  void* const data = static_cast<char*>(in.data) + in.byte_offset;
  Tensor tensor = from_blob(
      data, sizes, strides,
      [managed](void*) {
        if (managed->deleter) managed->deleter(managed);
      },
      options, caller());
  if (PyCapsule_SetName(capsule, used_name) != 0) throw ErrorIsSet();
  return tensor;
}

PyObject* module_from_capsule(PyObject*, PyObject* capsule) {
  return guarded([&] {
    const AtCaller site;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
      return wrap(imported<DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned"));
    if (PyCapsule_IsValid(capsule, "dltensor")) return wrap(imported<DLManagedTensor>(capsule, "dltensor", "used_dltensor"));
    fail(
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already "
        "constructed a tensor from it once.");
  });
}
PyMethodDef functions[] = {{"_from_dlpack_capsule", module_from_capsule, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};

PyBufferProcs buffer = {get_buffer, release_buffer};

}  // namespace

void add_buffer(PyTypeObject& type) { type.tp_as_buffer = &buffer; }

void register_exchange_methods() {
  prepare(dlpack_callable);
  add_to(Place::Method, fast("__dlpack__", dlpack, "The tensor as a DLPack capsule."));
  add_to(Place::Method, {"__dlpack_device__", dlpack_device, METH_NOARGS, "DLPack's kind and number of its device."});
}

bool add_exchange(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace tandem::python
