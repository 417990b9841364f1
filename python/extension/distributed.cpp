#include "distributed.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/wait_hook.h"
#include "bindings.h"
#include "classes.h"
#include "comm/launched.h"
#include "parallel/agreement.h"

namespace tandem::python {
namespace {

namespace ranks = tandem::distributed;

// --- Groups and handles

struct PyGroup {
  PyObject_HEAD ranks::ProcessGroup value;
};
PyTypeObject group_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
struct PyWork {
  PyObject_HEAD ranks::Work value;
};
PyTypeObject work_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

const ranks::ProcessGroup& group_of_self(PyObject* self) { return reinterpret_cast<PyGroup*>(self)->value; }
ranks::Work& work_of(PyObject* object) { return reinterpret_cast<PyWork*>(object)->value; }

template <class Holder, class Value>
PyObject* hold(PyTypeObject& type, Value value) {
  auto* object = PyObject_New(Holder, &type);
  if (!object) throw ErrorIsSet();
  new (&object->value) Value(std::move(value));
  return reinterpret_cast<PyObject*>(object);
}
template <class Holder, class Value>
void deallocate(PyObject* object) {
  reinterpret_cast<Holder*>(object)->value.~Value();
  PyObject_Free(object);
}

/// What waits for other ranks without asking whether Ctrl-C ends the wait runs on a thread of its own; the calling one asks. After Ctrl-C
/// it goes on by itself. For calls that do not depend on the thread's streams.
template <class Body>
auto interruptible(Body body) {
  auto task = std::make_shared<std::packaged_task<decltype(body())()>>(std::move(body));
  auto result = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  const tandem::detail::HookedWait hooked;
  while (result.wait_for(tandem::detail::kWaitCheck) != std::future_status::ready) hooked.check();
  return result.get();
}

PyObject* group_rank(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLong(group_of_self(self).rank()); });
}
PyObject* group_size(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLong(group_of_self(self).size()); });
}
PyObject* group_ranks(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::vector<int> all = group_of_self(self).ranks();
    Object list = Object::take(checked(PyList_New(static_cast<Py_ssize_t>(all.size()))));
    for (size_t i = 0; i < all.size(); ++i) PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLong(all[i])));
    return list.release();
  });
}
PyObject* group_backend(PyObject* self, PyObject*) {
  return guarded([&] { return from_text(ranks::get_backend(group_of_self(self))); });
}
PyObject* group_next_number(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(group_of_self(self).next_number()); });
}
PyObject* group_abort(PyObject* self, PyObject* reason) {
  return guarded([&] {
    group_of_self(self).abort(std::string(to_text(reason)));
    Py_RETURN_NONE;
  });
}
PyObject* group_recorded(PyObject* self, PyObject* json) {
  return guarded([&] { return from_text(group_of_self(self).recorded_calls(to_bool(json))); });
}
PyMethodDef group_methods[] = {
    {"rank", group_rank, METH_NOARGS, "This rank's number in the group."},
    {"size", group_size, METH_NOARGS, "How many ranks are in the group."},
    {"ranks", group_ranks, METH_NOARGS, "The members' ranks in the whole program."},
    {"backend", group_backend, METH_NOARGS, "As 'local' or 'mpi'."},
    {"next_number", group_next_number, METH_NOARGS, "A number for what every rank makes of the group in the same order."},
    {"abort", group_abort, METH_O, "abort(reason)\n\nEnds every wait in the group, on any rank that can be reached."},
    {"recorded_calls", group_recorded, METH_O, "recorded_calls(json)\n\nThe last calls of each rank that can be seen."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* work_wait(PyObject* self, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    work_of(self).wait(site);
    Py_RETURN_NONE;
  });
}
PyObject* work_synchronize(PyObject* self, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    work_of(self).synchronize(site);
    Py_RETURN_NONE;
  });
}
PyObject* work_is_completed(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(work_of(self).is_completed()); });
}
PyMethodDef work_methods[] = {
    {"wait", work_wait, METH_NOARGS, "On a GPU the current stream's later work comes behind it; on the CPU it waits."},
    {"synchronize", work_synchronize, METH_NOARGS, "Waits on the host."},
    {"is_completed", work_is_completed, METH_NOARGS, "Whether it is done, well or badly."},
    {nullptr, nullptr, 0, nullptr}};

// --- The program's ranks

PyObject* init(PyObject*, PyObject* args) {
  const char *backend, *meeting;
  long long timeout;
  ranks::InitOptions options;
  if (!PyArg_ParseTuple(args, "siisL:init", &backend, &options.rank, &options.world_size, &meeting, &timeout)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    options.timeout = std::chrono::milliseconds(timeout);
    options.init_method = meeting;
    const Site line = site;
    interruptible([name = std::string(backend), options, line] { ranks::init_process_group(name, options, line); });
    comm::choose_device();  // of this thread, too
    Py_RETURN_NONE;
  });
}
PyObject* destroy(PyObject*, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    const Site line = site;
    interruptible([line] { ranks::destroy_process_group(line); });
    Py_RETURN_NONE;
  });
}
PyObject* is_initialized(PyObject*, PyObject*) {
  return guarded([&] { return PyBool_FromLong(ranks::is_initialized()); });
}
PyObject* everyone(PyObject*, PyObject*) {
  return guarded([&] { return hold<PyGroup>(group_type, ranks::ProcessGroup()); });
}
/// new_group(ranks): the group, or None where this rank is not in it.
PyObject* new_group(PyObject*, PyObject* list) {
  return guarded([&] {
    const AtCaller site;
    std::vector<int> members;
    for (const int64_t rank : to_shape(list)) members.push_back(static_cast<int>(rank));
    const Site line = site;
    ranks::ProcessGroup group = interruptible([members, line] { return ranks::new_group(members, line); });
    if (!group.is_member()) Py_RETURN_NONE;
    return hold<PyGroup>(group_type, std::move(group));
  });
}
PyObject* monitored_barrier(PyObject*, PyObject* args) {
  PyObject* group;
  long long timeout;
  if (!PyArg_ParseTuple(args, "OL:monitored_barrier", &group, &timeout)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const Site line = site;
    interruptible(
        [members = group_of(group), timeout, line] { ranks::monitored_barrier(members, std::chrono::milliseconds(timeout), line); });
    Py_RETURN_NONE;
  });
}

// --- Collectives

// What is not to be recorded: the same memory, without its history.
Tensor plain(PyObject* object) {
  if (!is_tensor(object))
    fail<TypeError>("Invalid function argument. Expected parameter `tensor` of type torch.Tensor instead got ", Py_TYPE(object)->tp_name);
  return tensor_of(object).detach();
}
std::vector<Tensor> plain_all(PyObject* object) {
  std::vector<Tensor> tensors = to_tensors(object);
  for (Tensor& tensor : tensors) tensor = tensor.detach();
  return tensors;
}
ranks::ReduceOp to_op(int number) {
  if (number < 0 || number > static_cast<int>(ranks::ReduceOp::MAX))
    fail<ValueError>("there is no reduction ", number, ": SUM, AVG, PRODUCT, MIN and MAX are supported");
  return static_cast<ranks::ReduceOp>(number);
}

/// Runs `call(options, site)`, which gives a Work, and waits for it unless it is asynchronous. On the CPU it is asynchronous in any case,
/// and the wait asks for Ctrl-C.
template <class Run>
PyObject* collective(PyObject* group, bool async_op, bool on_host, const char* label, Run call) {
  return guarded([&] {
    const AtCaller site;
    const ranks::CollectiveOptions options{.group = group_of(group), .async_op = async_op || on_host, .label = label};
    const Site line = site;
    ranks::Work work = [&] {
      const WithoutLock free;
      return call(options, line);
    }();
    if (!async_op) work.wait(line);
    return hold<PyWork>(work_type, std::move(work));
  });
}

struct Asked {
  PyObject *group, *first, *second;
  int number = 0, tag = 0, async_op = 0;
  const char* label = "";
};

PyObject* all_reduce(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOip|s:all_reduce", &a.group, &a.first, &a.number, &a.async_op, &a.label)) return nullptr;
  return guarded([&] {
    const Tensor tensor = plain(a.first);
    return collective(a.group, a.async_op, tensor.is_cpu(), a.label,
                      [&](const auto& options, Site site) { return ranks::all_reduce(tensor, to_op(a.number), options, site); });
  });
}
PyObject* all_reduce_coalesced(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOip:all_reduce_coalesced", &a.group, &a.first, &a.number, &a.async_op)) return nullptr;
  return guarded([&] {
    const std::vector<Tensor> tensors = plain_all(a.first);
    return collective(a.group, a.async_op, tensors.empty() || tensors[0].is_cpu(), "",
                      [&](const auto& options, Site site) { return ranks::all_reduce_coalesced(tensors, to_op(a.number), options, site); });
  });
}
PyObject* broadcast(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOip|s:broadcast", &a.group, &a.first, &a.number, &a.async_op, &a.label)) return nullptr;
  return guarded([&] {
    const Tensor tensor = plain(a.first);
    return collective(a.group, a.async_op, tensor.is_cpu(), a.label,
                      [&](const auto& options, Site site) { return ranks::broadcast(tensor, a.number, options, site); });
  });
}
PyObject* reduce(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOiip:reduce", &a.group, &a.first, &a.tag, &a.number, &a.async_op)) return nullptr;
  return guarded([&] {
    const Tensor tensor = plain(a.first);
    return collective(a.group, a.async_op, tensor.is_cpu(), "",
                      [&](const auto& options, Site site) { return ranks::reduce(tensor, a.tag, to_op(a.number), options, site); });
  });
}
PyObject* all_gather_into_tensor(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOOp|s:all_gather_into_tensor", &a.group, &a.first, &a.second, &a.async_op, &a.label)) return nullptr;
  return guarded([&] {
    const Tensor out = plain(a.first), in = plain(a.second);
    return collective(a.group, a.async_op, out.is_cpu(), a.label,
                      [&](const auto& options, Site site) { return ranks::all_gather_into_tensor(out, in, options, site); });
  });
}
PyObject* reduce_scatter_tensor(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOOip|s:reduce_scatter_tensor", &a.group, &a.first, &a.second, &a.number, &a.async_op, &a.label))
    return nullptr;
  return guarded([&] {
    const Tensor out = plain(a.first), in = plain(a.second);
    return collective(a.group, a.async_op, out.is_cpu(), a.label, [&](const auto& options, Site site) {
      return ranks::reduce_scatter_tensor(out, in, to_op(a.number), options, site);
    });
  });
}
PyObject* all_to_all_single(PyObject*, PyObject* args) {
  Asked a;
  PyObject *out_sizes, *in_sizes;
  if (!PyArg_ParseTuple(args, "OOOOOp:all_to_all_single", &a.group, &a.first, &a.second, &out_sizes, &in_sizes, &a.async_op))
    return nullptr;
  return guarded([&] {
    const Tensor out = plain(a.first), in = plain(a.second);
    const Shape to = to_shape(out_sizes), from = to_shape(in_sizes);
    return collective(a.group, a.async_op, out.is_cpu(), "", [&](const auto& options, Site site) {
      return ranks::all_to_all_single(out, in, {to.begin(), to.end()}, {from.begin(), from.end()}, options, site);
    });
  });
}
/// gather(group, tensor, dst): every rank's tensor on rank dst, none elsewhere. On the CPU it waits.
PyObject* gather(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOi:gather", &a.group, &a.first, &a.number)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const Site line = site;
    const Tensor tensor = plain(a.first);
    const ranks::CollectiveOptions options{.group = group_of(a.group)};
    const auto call = [tensor, dst = a.number, options, line] { return ranks::gather(tensor, dst, options, line); };
    return wrap_tuple(tensor.is_cpu() ? interruptible(call) : call());
  });
}
PyObject* scatter(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOOip:scatter", &a.group, &a.first, &a.second, &a.number, &a.async_op)) return nullptr;
  return guarded([&] {
    const Tensor out = plain(a.first);
    const std::vector<Tensor> parts = plain_all(a.second);
    return collective(a.group, a.async_op, out.is_cpu(), "",
                      [&](const auto& options, Site site) { return ranks::scatter(out, parts, a.number, options, site); });
  });
}
/// isend and irecv(group, tensor, rank, tag, async_op); on a GPU the stream waits where they are not asynchronous.
template <auto message>
PyObject* between_two(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "OOiip", &a.group, &a.first, &a.number, &a.tag, &a.async_op)) return nullptr;
  return guarded([&] {
    const Tensor tensor = plain(a.first);
    return collective(a.group, a.async_op, tensor.is_cpu(), "",
                      [&](const auto& options, Site site) { return message(tensor, a.number, a.tag, options, site); });
  });
}
PyObject* barrier(PyObject*, PyObject* args) {
  Asked a;
  if (!PyArg_ParseTuple(args, "Op:barrier", &a.group, &a.async_op)) return nullptr;
  return collective(a.group, a.async_op, true, "", [](const auto& options, Site site) { return ranks::barrier(options, site); });
}
/// symmetric_zeros(group, sizes, dtype): zeros of the CPU that the ranks of one machine reach without a copy.
PyObject* symmetric_zeros(PyObject*, PyObject* args) {
  PyObject *group, *sizes, *dtype;
  if (!PyArg_ParseTuple(args, "OOO:symmetric_zeros", &group, &sizes, &dtype)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    return wrap(ranks::symmetric_zeros(to_shape(sizes), to_dtype(dtype), group_of(group), site));
  });
}

// --- What all ranks must have alike

/// check_alike(group, names, tensors, what): error, the same on every rank, unless all have such tensors.
PyObject* check_alike(PyObject*, PyObject* args) {
  PyObject *group, *names, *list;
  const char* what;
  if (!PyArg_ParseTuple(args, "OO!Os:check_alike", &group, &PyList_Type, &names, &list, &what)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const Site line = site;
    const std::vector<Tensor> tensors = to_tensors(list);
    if (static_cast<size_t>(PyList_GET_SIZE(names)) != tensors.size())
      fail<ValueError>("check_alike: there must be a name for each tensor");
    tandem::parallel::detail::NamedTensors named;
    for (size_t i = 0; i < tensors.size(); ++i) named.emplace_back(to_text(PyList_GET_ITEM(names, static_cast<Py_ssize_t>(i))), tensors[i]);
    interruptible([kind = std::string(what), named, members = group_of(group), line] {
      tandem::parallel::detail::check_alike("DistributedDataParallel", kind.c_str(), named, members, line);
    });
    Py_RETURN_NONE;
  });
}
/// broadcast_values(group, tensors, root): in place, the values of the rank with number `root` in the group.
PyObject* broadcast_values(PyObject*, PyObject* args) {
  PyObject *group, *list;
  int root;
  if (!PyArg_ParseTuple(args, "OOi:broadcast_values", &group, &list, &root)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const Site line = site;
    const std::vector<Tensor> tensors = plain_all(list);
    const auto call = [tensors, root, members = group_of(group), line] {
      tandem::parallel::detail::broadcast_values(tensors, root, members, line);
    };
    if (!tensors.empty() && tensors[0].is_cpu()) interruptible(call);
    else call();
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {{"init", init, METH_VARARGS, nullptr},
                           {"destroy", destroy, METH_NOARGS, nullptr},
                           {"is_initialized", is_initialized, METH_NOARGS, nullptr},
                           {"everyone", everyone, METH_NOARGS, nullptr},
                           {"new_group", new_group, METH_O, nullptr},
                           {"monitored_barrier", monitored_barrier, METH_VARARGS, nullptr},
                           {"all_reduce", all_reduce, METH_VARARGS, nullptr},
                           {"all_reduce_coalesced", all_reduce_coalesced, METH_VARARGS, nullptr},
                           {"broadcast", broadcast, METH_VARARGS, nullptr},
                           {"reduce", reduce, METH_VARARGS, nullptr},
                           {"all_gather_into_tensor", all_gather_into_tensor, METH_VARARGS, nullptr},
                           {"reduce_scatter_tensor", reduce_scatter_tensor, METH_VARARGS, nullptr},
                           {"all_to_all_single", all_to_all_single, METH_VARARGS, nullptr},
                           {"gather", gather, METH_VARARGS, nullptr},
                           {"scatter", scatter, METH_VARARGS, nullptr},
                           {"isend", between_two<ranks::isend>, METH_VARARGS, nullptr},
                           {"irecv", between_two<ranks::irecv>, METH_VARARGS, nullptr},
                           {"barrier", barrier, METH_VARARGS, nullptr},
                           {"check_alike", check_alike, METH_VARARGS, nullptr},
                           {"broadcast_values", broadcast_values, METH_VARARGS, nullptr},
                           {"symmetric_zeros", symmetric_zeros, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

/// sync_batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps, group=None)
PyObject* sync_batch_norm(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps", "group", nullptr};
  PyObject *input, *mean, *variance, *weight, *bias, *group = nullptr;
  BatchNormOptions options;
  int training;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOpdd|O:sync_batch_norm", const_cast<char**>(names), &input, &mean, &variance,
                                   &weight, &bias, &training, &options.momentum, &options.eps, &group))
    return nullptr;
  return guarded([&] {
    const AtCaller site;
    const Site line = site;
    const auto optional = [](PyObject* object) { return given(object) ? checked_tensor(object) : Tensor(); };
    options.weight = optional(weight);
    options.bias = optional(bias);
    const Tensor x = checked_tensor(input), running_mean = optional(mean), running_var = optional(variance);
    options.training = training != 0;
    const ranks::ProcessGroup members = group_of(group);
    const auto compute = [&] {
      const WithoutLock free;
      return tandem::nn::sync_batch_norm(x, running_mean, running_var, options, members, line);
    };
    return wrap(compute());
  });
}
PyMethodDef module_functions[] = {
    {"sync_batch_norm", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(sync_batch_norm)), METH_VARARGS | METH_KEYWORDS,
     "Batch normalization in training by the statistics of all ranks' batches."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

distributed::ProcessGroup group_of(PyObject* object) {
  if (!given(object)) return {};
  if (PyObject_HasAttrString(object, "_handle")) return group_of(Object::take(checked(PyObject_GetAttrString(object, "_handle"))).get());
  if (Py_TYPE(object) != &group_type) fail<TypeError>("expected a process group, but got ", Py_TYPE(object)->tp_name);
  return reinterpret_cast<PyGroup*>(object)->value;
}

bool add_distributed(PyObject* module) {
  if (!ready(group_type, {.name = "tandem._C._distributed.Group",
                          .size = sizeof(PyGroup),
                          .deallocate = deallocate<PyGroup, ranks::ProcessGroup>,
                          .methods = group_methods}) ||
      !ready(work_type, {.name = "tandem._C._distributed.Work",
                         .size = sizeof(PyWork),
                         .deallocate = deallocate<PyWork, ranks::Work>,
                         .methods = work_methods}))
    return false;
  const Object part = Object::take(PyModule_New("tandem._C._distributed"));
  return part && PyModule_AddFunctions(part.get(), functions) == 0 && PyModule_AddFunctions(module, module_functions) == 0 &&
         PyModule_AddObjectRef(module, "_distributed", part.get()) == 0;
}

}  // namespace tandem::python
