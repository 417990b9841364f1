#include "shards.h"

#include <memory>
#include <utility>

#include "beside.h"
#include "bindings.h"
#include "classes.h"
#include "distributed.h"
#include "parallel/flat_shards.h"

namespace tandem::python {
namespace {

using tandem::parallel::detail::FlatLayout;
using tandem::parallel::detail::FlatShards;

struct PyShards {
  PyObject_HEAD std::unique_ptr<FlatShards> value;
};
PyTypeObject shards_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
FlatShards& shards_of(PyObject* object) { return *reinterpret_cast<PyShards*>(object)->value; }

PyObject* shards_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* given_names[] = {"label", "numels", "alignment", "group", "divided", "dtype", "device", nullptr};
  const char* label;
  PyObject *numels, *group, *dtype, *device;
  Py_ssize_t alignment;
  int divided;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOnOpOO:FlatShards", const_cast<char**>(given_names), &label, &numels, &alignment,
                                   &group, &divided, &dtype, &device))
    return nullptr;
  return guarded([&] {
    const Shape counts = to_shape(numels);
    const distributed::ProcessGroup ranks = group_of(group);
    auto value =
        std::make_unique<FlatShards>(FlatLayout(counts, alignment, 1, divided ? ranks.size() : 1),
                                     tandem::parallel::detail::FlatShardsOptions{label, ranks, to_dtype(dtype), to_device(device)});
    PyObject* const object = checked(type->tp_alloc(type, 0));
    new (&reinterpret_cast<PyShards*>(object)->value) std::unique_ptr<FlatShards>(std::move(value));
    return object;
  });
}
void shards_deallocate(PyObject* object) {
  reinterpret_cast<PyShards*>(object)->value.~unique_ptr();
  Py_TYPE(object)->tp_free(object);
}

// --- Where the elements are
PyObject* shards_share(PyObject* self, void*) { return PyLong_FromLongLong(shards_of(self).layout().share()); }
PyObject* shards_offsets(PyObject* self, void*) {
  return guarded([&] {
    const FlatLayout& layout = shards_of(self).layout();
    Object list = Object::take(checked(PyList_New(static_cast<Py_ssize_t>(layout.size()))));
    for (size_t i = 0; i < layout.size(); ++i)
      PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(layout.offset(i))));
    return list.release();
  });
}
PyObject* shards_parts(PyObject* self, void*) {
  return guarded([&] {
    const FlatShards& shards = shards_of(self);
    Object list = Object::take(checked(PyList_New(0)));
    for (size_t i = 0; i < shards.layout().size(); ++i) {
      const FlatLayout::Part part = shards.layout().part(i, shards.rank());
      if (part.count == 0) continue;
      const auto number = [](auto value) { return static_cast<long long>(value); };
      const Object row = Object::take(
          checked(Py_BuildValue("(LLLL)", number(i), number(part.begin), number(part.begin + part.count), number(part.place))));
      if (PyList_Append(list.get(), row.get()) != 0) throw_set();
    }
    return list.release();
  });
}

// --- The whole
PyObject* shards_whole(PyObject* self, void*) {
  return guarded([&] { return wrap(shards_of(self).whole()); });
}
PyObject* shards_has_values(PyObject* self, void*) { return PyBool_FromLong(shards_of(self).has_values()); }
PyObject* shards_is_coming(PyObject* self, void*) { return PyBool_FromLong(shards_of(self).is_coming()); }
/// Runs `body(tensor, site)` as beside_others does.
template <class Body>
PyObject* with_tensor(PyObject* object, Body body) {
  return guarded([&] {
    const Tensor tensor = checked_tensor(object);
    return beside_others([&](Site site) { return body(tensor, site); });
  });
}
PyObject* shards_begin_gather(PyObject* self, PyObject* local) {
  return with_tensor(local, [&](const Tensor& range, Site site) { shards_of(self).begin_gather(range, site); });
}
PyObject* shards_gather(PyObject* self, PyObject* local) {
  return with_tensor(local, [&](const Tensor& range, Site site) { (void)shards_of(self).gather(range, site); });
}
PyObject* shards_release(PyObject* self, PyObject*) {
  return beside_others([&](Site) { shards_of(self).release(); });
}
PyObject* shards_drop(PyObject* self, PyObject*) {
  return beside_others([&](Site site) { shards_of(self).drop(site); });
}
PyObject* shards_average(PyObject* self, PyObject* all) {
  return with_tensor(all, [&](const Tensor& values, Site site) {
    shards_of(self).begin_reduce(values, distributed::ReduceOp::AVG, site);
    return shards_of(self).finish_reduce(site);
  });
}

PyGetSetDef attributes[] = {
    {"share", shards_share, nullptr, "Elements of a rank's range.", nullptr},
    {"offsets", shards_offsets, nullptr, "Where each tensor begins.", nullptr},
    {"parts", shards_parts, nullptr,
     "What this rank has: a tensor's number, its first element and the one behind the last, and their place in the range.", nullptr},
    {"whole", shards_whole, nullptr, "All elements; without bytes between release and gather.", nullptr},
    {"has_values", shards_has_values, nullptr, "Whether the whole has its values.", nullptr},
    {"is_coming", shards_is_coming, nullptr, "Whether they are on their way.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"begin_gather", shards_begin_gather, METH_O, "(local): begins to bring the ranks' ranges together."},
                         {"gather", shards_gather, METH_O, "(local): the whole has its values from here on."},
                         {"release", shards_release, METH_NOARGS, "Gives the whole's bytes up."},
                         {"drop", shards_drop, METH_NOARGS, "Gives up what is on its way."},
                         {"average", shards_average, METH_O, "(all): this rank's range of the average of what is as long as the whole."},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_shards(PyObject* module) {
  return ready(shards_type, {.name = "tandem._C._parallel.FlatShards",
                             .size = sizeof(PyShards),
                             .deallocate = shards_deallocate,
                             .make = shards_new,
                             .methods = methods,
                             .attributes = attributes,
                             .doc = "Flat memory of which each rank of a group keeps a range, and which is together for a while."}) &&
         PyModule_AddObjectRef(module, "FlatShards", reinterpret_cast<PyObject*>(&shards_type)) == 0;
}

}  // namespace tandem::python
