#include "parallel.h"

#include <vector>

#include "bindings.h"
#include "reducer.h"
#include "shards.h"

namespace tandem::python {
namespace {

std::vector<Device> to_devices(PyObject* object) {
  const Object list = Object::take(checked(PySequence_Fast(object, "devices must be a sequence")));
  std::vector<Device> devices;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) devices.push_back(to_device(item_of(list.get(), i).get()));
  return devices;
}

PyObject* wrap_all(std::vector<std::vector<Tensor>> tensors) {
  Object tuple = Object::take(checked(PyTuple_New(static_cast<Py_ssize_t>(tensors.size()))));
  for (size_t i = 0; i < tensors.size(); ++i) PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap_tuple(std::move(tensors[i])));
  return tuple.release();
}

/// What parses two objects and a dimension, and runs `body` at the caller's line.
template <class Body>
PyObject* with_two(PyObject* args, Body body) {
  PyObject *first, *second;
  Py_ssize_t dim = 0;
  if (!PyArg_ParseTuple(args, "OO|n", &first, &second, &dim)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    return body(first, second, static_cast<int64_t>(dim), site);
  });
}

PyObject* broadcast_coalesced(PyObject*, PyObject* args) {
  return with_two(args, [](PyObject* tensors, PyObject* devices, int64_t, Site site) {
    return wrap_all(tandem::parallel::broadcast_coalesced(to_tensors(tensors), to_devices(devices), site));
  });
}
PyObject* scatter(PyObject*, PyObject* args) {
  return with_two(args, [](PyObject* tensor, PyObject* devices, int64_t dim, Site site) {
    return wrap_tuple(tandem::parallel::scatter(checked_tensor(tensor), to_devices(devices), dim, site));
  });
}
PyObject* gather(PyObject*, PyObject* args) {
  return with_two(args, [](PyObject* tensors, PyObject* device, int64_t dim, Site site) {
    return wrap(tandem::parallel::gather(to_tensors(tensors), to_device(device), dim, site));
  });
}
PyObject* reduce_add(PyObject*, PyObject* args) {
  return with_two(args, [](PyObject* tensors, PyObject* device, int64_t, Site site) {
    return wrap(comm::reduce_add(to_tensors(tensors), to_device(device), site));
  });
}

PyMethodDef functions[] = {
    {"broadcast_coalesced", broadcast_coalesced, METH_VARARGS, "(tensors, devices): the tensors on each device. Gradients flow back."},
    {"scatter", scatter, METH_VARARGS, "(tensor, devices, dim): its chunks, one on each device. Gradients flow back."},
    {"gather", gather, METH_VARARGS, "(tensors, device, dim): the tensors joined on the device. Gradients flow back."},
    {"reduce_add", reduce_add, METH_VARARGS, "(tensors, device): their sum on the device."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_parallel(PyObject* module) {
  const Object part = Object::take(PyModule_New("tandem._C._parallel"));
  return part && PyModule_AddFunctions(part.get(), functions) == 0 && add_reducer(part.get()) && add_shards(part.get()) &&
         PyModule_AddObjectRef(module, "_parallel", part.get()) == 0;
}

}  // namespace tandem::python
