// Memory that other libraries look into: the buffer protocol, and DLPack both ways (https://dmlc.github.io/dlpack/latest/c_api.html).
#include "exchange.h"

#include "bindings.h"
#include "data.h"
#include "operators.h"
#include "ops/dlpack.h"
#include "ops/dlpack_layout.h"

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

// --- DLPack

template <class Managed>
void end_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // somebody has taken it over
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (!managed) return;
  if (const auto deleter = dlpack::layout_of(managed)->deleter) deleter(managed);
}

Parameter dlpack_parameters[] = {{"self", Kind::Tensor},
                                 {"stream", Kind::Any, true, true},
                                 {"max_version", Kind::Any, true, true},
                                 {"dl_device", Kind::Any, true, true},
                                 {"copy", Kind::Bool, true, true}};
Signature dlpack_signatures[] = {{dlpack_parameters, "*, int stream=None, tuple max_version=None, tuple dl_device=None, bool copy=None"}};
const Callable dlpack_callable{"__dlpack__", dlpack_signatures};

PyObject* to_capsule(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    Arguments a;
    if (!a.fit(dlpack_signatures[0], self, args, count, names)) return refuse(dlpack_callable, self, args, count, names);
    const AtCaller site;
    const Tensor& tensor = tensor_of(self);
    if (tensor.requires_grad()) {
      PyErr_SetString(PyExc_BufferError, "Can't export tensors that require gradient, use tensor.detach()");
      throw ErrorIsSet();
    }
    if (tensor.is_cuda() && cuda::get_device_properties(tensor.device()).is_virtual) {
      PyErr_SetString(PyExc_BufferError, "the memory of a virtual GPU is not for other libraries: call cpu() first");
      throw ErrorIsSet();
    }
    const bool consumer_waits = given(a[1]) && is_integer(a[1]) && to_int(a[1]) == -1;
    const DLPackOptions options{.copy = given(a[4]) && to_bool(a[4]), .synchronize = !consumer_waits};
    if (given(a[2])) {
      const Object major = Object::take(checked(PySequence_GetItem(a[2], 0)));
      if (to_int(major.get()) >= 1)
        return PyCapsule_New(to_dlpack_versioned(tensor, options, site), "dltensor_versioned",
                             [](PyObject* capsule) { end_capsule<DLManagedTensorVersioned>(capsule, "dltensor_versioned"); });
    }
    return PyCapsule_New(to_dlpack(tensor, options, site), "dltensor",
                         [](PyObject* capsule) { end_capsule<DLManagedTensor>(capsule, "dltensor"); });
  });
}
PyObject* dlpack_device(PyObject* self, PyObject*) {
  const Device device = tensor_of(self).device();
  return Py_BuildValue("ii", device.is_cpu() ? dlpack::kCpu : dlpack::kCuda, device.is_cpu() ? 0 : device.index());
}

template <class Managed>
Tensor imported(PyObject* capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (!managed) throw ErrorIsSet();
  Tensor tensor;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    if (const dlpack::Version version = dlpack::layout_of(managed)->version; version.major > dlpack::kMajor) {
      PyErr_Format(PyExc_BufferError, "DLPack of version %u.%u: tandem reads version 1", version.major, version.minor);
      throw ErrorIsSet();
    }
    tensor = detail::from_dlpack_unwarned(managed, caller());
  } else {
    tensor = from_dlpack(managed, caller());
  }
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
  add_to(Place::Method, fast("__dlpack__", to_capsule, "The tensor as a DLPack capsule."));
  add_to(Place::Method, {"__dlpack_device__", dlpack_device, METH_NOARGS, "DLPack's kind and number of its device."});
}

bool add_exchange(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace tandem::python
