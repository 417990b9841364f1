#include "sharing.h"

#include <memory>
#include <vector>

#include "bindings.h"
#include "process/codec.h"
#include "tensor/share.h"
#include "tensor/storage.h"
#include "tensor/tensor_impl.h"

namespace tandem::python {
namespace {

namespace parcels = tandem::multiprocessing::detail;
using TensorCodec = tandem::multiprocessing::Codec<Tensor>;

constexpr const char* kOp = "multiprocessing";
constexpr const char* kKeeper = "tandem.multiprocessing.keeper";

/// The tensor in memory that processes share: moved there in place, or a copy of it where other tensors see its memory, which cannot
/// follow.
Tensor shared(const Tensor& tensor, Site site) {
  Storage& storage = *tensor.impl().storage;
  if (tensor.is_cpu() && storage.bytes() > 0 && !tandem::detail::shared_memory_of(storage)) {
    if (storage.use_count() > 1) return tensor.detach().clone(site).share_memory_(site);
    tandem::detail::share_memory({&tensor, 1}, kOp);
  }
  return tensor.detach();
}

/// _pack_tensor(tensor) -> (bytes, descriptors, keeper). The descriptors are open as long as the keeper is.
PyObject* pack(PyObject*, PyObject* object) {
  return guarded([&] {
    const AtCaller site;
    parcels::Parcel parcel(kOp);
    TensorCodec::put(parcel, shared(checked_tensor(object), site));
    auto message = std::make_unique<parcels::Message>(parcel.finish());
    Object files = Object::take(checked(PyTuple_New(static_cast<Py_ssize_t>(message->files.size()))));
    for (size_t i = 0; i < message->files.size(); ++i)
      PyTuple_SET_ITEM(files.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLong(message->files[i].file)));
    const Object bytes =
        Object::take(checked(PyBytes_FromStringAndSize(message->bytes.data(), static_cast<Py_ssize_t>(message->bytes.size()))));
    const Object keeper = Object::take(checked(PyCapsule_New(
        message.get(), kKeeper, [](PyObject* capsule) { delete static_cast<parcels::Message*>(PyCapsule_GetPointer(capsule, kKeeper)); })));
    (void)message.release();
    return checked(PyTuple_Pack(3, bytes.get(), files.get(), keeper.get()));
  });
}

/// _unpack_tensor(bytes, descriptors): the tensor, which owns the descriptors from now on.
PyObject* unpack(PyObject*, PyObject* args) {
  const char* data = nullptr;
  Py_ssize_t size = 0;
  PyObject* list = nullptr;
  if (!PyArg_ParseTuple(args, "y#O:_unpack_tensor", &data, &size, &list)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const Object numbers = Object::take(checked(PySequence_Fast(list, "descriptors must be a sequence")));
    std::vector<Descriptor> files;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(numbers.get()); ++i)
      files.emplace_back(static_cast<int>(to_int(item_of(numbers.get(), i).get())));
    parcels::Received received(std::vector<char>(data, data + size), std::move(files), kOp);
    Tensor tensor = TensorCodec::take(received);
    received.finish();
    return wrap(std::move(tensor));
  });
}

PyMethodDef functions[] = {
    {"_pack_tensor", pack, METH_O, nullptr}, {"_unpack_tensor", unpack, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_sharing(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace tandem::python
