#include "reducer.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "beside.h"
#include "bindings.h"
#include "classes.h"
#include "distributed.h"
#include "parallel/reducer.h"

namespace tandem::python {
namespace {

using tandem::parallel::detail::FullBucket;
using tandem::parallel::detail::NamedTensors;
using tandem::parallel::detail::Reducer;
using tandem::parallel::detail::ReducerOptions;

struct PyReducer {
  PyObject_HEAD std::unique_ptr<Reducer> value;
  PyObject* hook;  // that averages buckets, or nullptr
};
PyTypeObject reducer_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyReducer& self_of(PyObject* object) { return *reinterpret_cast<PyReducer*>(object); }
Reducer& reducer_of(PyObject* object) { return *self_of(object).value; }

std::vector<std::string> to_texts(PyObject* list) {
  std::vector<std::string> texts;
  const Object items = Object::take(checked(PySequence_Fast(list, "names must be a sequence")));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) texts.emplace_back(to_text(item_of(items.get(), i).get()));
  return texts;
}
PyObject* from_texts(const std::vector<std::string>& texts) {
  Object list = Object::take(checked(PyList_New(static_cast<Py_ssize_t>(texts.size()))));
  for (size_t i = 0; i < texts.size(); ++i) PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(from_text(texts[i])));
  return list.release();
}

PyObject* reducer_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* given_names[] = {"label",           "names",         "parameters", "group",   "find_unused_parameters",
                                      "first_bucket_mb", "bucket_cap_mb", "as_view",    "delayed", nullptr};
  const char* label;
  PyObject *names, *parameters, *group, *delayed;
  int find_unused, as_view;
  ReducerOptions options{.last_beside = true};
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOOOpddpO:Reducer", const_cast<char**>(given_names), &label, &names, &parameters,
                                   &group, &find_unused, &options.first_bucket_mb, &options.bucket_cap_mb, &as_view, &delayed))
    return nullptr;
  return guarded([&] {
    const AtCaller site;
    const std::vector<std::string> texts = to_texts(names);
    const std::vector<Tensor> tensors = to_tensors(parameters);
    if (texts.size() != tensors.size()) fail<ValueError>("Reducer: there must be a name for each parameter");
    NamedTensors named;
    for (size_t i = 0; i < texts.size(); ++i) named.emplace_back(texts[i], tensors[i]);
    options.label = label;
    options.process_group = group_of(group);
    options.find_unused_parameters = find_unused != 0;
    options.gradient_as_bucket_view = as_view != 0;
    options.delayed = to_texts(delayed);
    auto value = std::make_unique<Reducer>(named, options, site);
    PyObject* const object = checked(type->tp_alloc(type, 0));
    new (&self_of(object).value) std::unique_ptr<Reducer>(std::move(value));
    return object;
  });
}
int reducer_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(self_of(object).hook);
  return 0;
}
int reducer_clear(PyObject* object) {
  if (self_of(object).value) self_of(object).value->set_comm_hook(nullptr);
  Py_CLEAR(self_of(object).hook);
  return 0;
}
void reducer_deallocate(PyObject* object) {
  PyObject_GC_UnTrack(object);
  reducer_clear(object);
  self_of(object).value.~unique_ptr();
  Py_TYPE(object)->tp_free(object);
}

PyObject* reducer_check(PyObject* self, PyObject*) {
  return beside_others([&](Site) { reducer_of(self).check(); });
}
PyObject* reducer_prepare(PyObject* self, PyObject*) {
  return beside_others([&](Site site) { reducer_of(self).prepare(site); });
}
PyObject* reducer_take_part(PyObject* self, PyObject*) {
  return beside_others([&](Site site) { reducer_of(self).take_part(site); });
}
PyObject* reducer_look_for_unused(PyObject* self, PyObject*) {
  return beside_others([&](Site site) { reducer_of(self).look_for_unused(site); });
}
/// after_forward(outputs, all)
PyObject* reducer_after_forward(PyObject* self, PyObject* args) {
  PyObject* outputs;
  int all;
  if (!PyArg_ParseTuple(args, "Op:after_forward", &outputs, &all)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    reducer_of(self).after_forward(to_tensors(outputs), all != 0);
    Py_RETURN_NONE;
  });
}
PyObject* reducer_set_averages(PyObject* self, PyObject* averages) {
  return guarded([&] {
    reducer_of(self).set_averages(to_bool(averages));
    Py_RETURN_NONE;
  });
}
PyObject* reducer_set_scale(PyObject* self, PyObject* scale) {
  return guarded([&] {
    reducer_of(self).set_scale(to_double(scale));
    Py_RETURN_NONE;
  });
}

/// Calls the hook with a bucket; what it gives waits for the hook's Future.
std::function<Tensor()> call_hook(PyObject* hook, const FullBucket& bucket) {
  const WithLock lock;
  const Object arguments =
      Object::take(checked(Py_BuildValue("(nNNNN)", static_cast<Py_ssize_t>(bucket.index), PyBool_FromLong(bucket.is_last),
                                         wrap(bucket.flat), wrap_tuple(bucket.gradients), wrap_tuple(bucket.parameters))));
  const Object future = Object::take(PyObject_Call(hook, arguments.get(), nullptr));
  if (!future) throw_set();
  return [held = Shared(future.get())] {
    const WithLock locked;
    Object result = Object::take(PyObject_CallMethod(held.get(), "wait", nullptr));
    if (!result) throw_set();
    if (PyList_Check(result.get()) || PyTuple_Check(result.get())) result = Object::take(PySequence_GetItem(result.get(), 0));
    if (!result) throw_set();
    return checked_tensor(result.get());
  };
}
/// set_comm_hook(hook): hook(index, is_last, flat, gradients, parameters) gives a Future of the average.
PyObject* reducer_set_comm_hook(PyObject* self, PyObject* hook) {
  return guarded([&] {
    Py_XSETREF(self_of(self).hook, Py_NewRef(hook));
    reducer_of(self).set_comm_hook([hook](const FullBucket& bucket) { return call_hook(hook, bucket); });
    Py_RETURN_NONE;
  });
}
PyObject* reducer_buckets(PyObject* self, PyObject*) {
  return guarded([&] {
    const auto buckets = reducer_of(self).buckets();
    Object list = Object::take(checked(PyList_New(static_cast<Py_ssize_t>(buckets.size()))));
    for (size_t i = 0; i < buckets.size(); ++i) PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), from_texts(buckets[i]));
    return list.release();
  });
}

PyMethodDef methods[] = {
    {"check", reducer_check, METH_NOARGS, "Before a forward that records: error where the step before was not averaged."},
    {"prepare", reducer_prepare, METH_NOARGS, "Before a forward that is averaged, on all ranks."},
    {"after_forward", reducer_after_forward, METH_VARARGS, "(outputs, all): backwards through these are averaged, or not."},
    {"take_part", reducer_take_part, METH_NOARGS, "In place of a forward and a backward, with zeros."},
    {"look_for_unused", reducer_look_for_unused, METH_NOARGS, "From now on looks for parameters that outputs do not depend on."},
    {"set_averages", reducer_set_averages, METH_O, "Whether backwards of the next forwards are averaged."},
    {"set_scale", reducer_set_scale, METH_O, "What this rank's gradients are multiplied by."},
    {"set_comm_hook", reducer_set_comm_hook, METH_O, "What averages a bucket in place of all_reduce."},
    {"buckets", reducer_buckets, METH_NOARGS, "The names of the parameters in each bucket."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_reducer(PyObject* module) {
  reducer_type.tp_traverse = reducer_traverse;
  reducer_type.tp_clear = reducer_clear;
  return ready(reducer_type, {.name = "tandem._C._parallel.Reducer",
                              .size = sizeof(PyReducer),
                              .deallocate = reducer_deallocate,
                              .make = reducer_new,
                              .methods = methods,
                              .doc = "Listens to the gradients of some parameters, and averages them over the ranks of a group.",
                              .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC}) &&
         PyModule_AddObjectRef(module, "Reducer", reinterpret_cast<PyObject*>(&reducer_type)) == 0;
}

}  // namespace tandem::python
