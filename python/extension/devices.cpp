#include "devices.h"

#include "bindings.h"
#include "classes.h"

namespace tandem::python {
namespace {

/// The GPU that a call means: the current one where none is given.
Device gpu_of(PyObject* object) {
  if (!given(object)) return Device(DeviceType::CUDA);
  const Device device = to_device(object);
  if (!device.is_cuda()) fail<ValueError>("Expected a cuda device, but got: ", device);
  return device;
}

// --- Streams

struct PyStream {
  PyObject_HEAD cuda::Stream value;
};
PyTypeObject stream_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
struct PyEvent {
  PyObject_HEAD cuda::Event value;
};
PyTypeObject event_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

const cuda::Stream& stream_of(PyObject* object) {
  if (!PyObject_TypeCheck(object, &stream_type)) fail<TypeError>("expected a Stream, but got ", Py_TYPE(object)->tp_name);
  return reinterpret_cast<PyStream*>(object)->value;
}
cuda::Event& event_of(PyObject* object) {
  if (!PyObject_TypeCheck(object, &event_type)) fail<TypeError>("expected an Event, but got ", Py_TYPE(object)->tp_name);
  return reinterpret_cast<PyEvent*>(object)->value;
}
PyObject* from_stream(PyTypeObject* type, const cuda::Stream& stream) {
  PyObject* const object = checked(type->tp_alloc(type, 0));
  new (&reinterpret_cast<PyStream*>(object)->value) cuda::Stream(stream);
  return object;
}

PyObject* stream_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"device", "priority", nullptr};
  PyObject* device = nullptr;
  int priority = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Oi:Stream", const_cast<char**>(names), &device, &priority)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    return from_stream(type, cuda::Stream(gpu_of(device), priority < 0 ? -1 : 0));
  });
}
PyObject* stream_synchronize(PyObject* self, PyObject*) {
  return guarded([&] {
    stream_of(self).synchronize(AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* stream_query(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(stream_of(self).query()); });
}
PyObject* stream_wait_stream(PyObject* self, PyObject* other) {
  return guarded([&] {
    stream_of(self).wait_stream(stream_of(other), AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* stream_wait_event(PyObject* self, PyObject* event) {
  return guarded([&] {
    stream_of(self).wait_event(event_of(event), AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* stream_record_event(PyObject* self, PyObject* args) {
  PyObject* event = nullptr;
  if (!PyArg_ParseTuple(args, "|O", &event)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    Object target =
        given(event) ? Object::share(event) : Object::take(checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&event_type))));
    event_of(target.get()).record(stream_of(self), site);
    return target.release();
  });
}
PyObject* stream_repr(PyObject* self) {
  const cuda::Stream& stream = reinterpret_cast<PyStream*>(self)->value;
  return PyUnicode_FromFormat("<%scuda.Stream device=%s cuda_stream=0x%x>", module_prefix(), stream.device().str().c_str(), stream.id());
}
PyObject* stream_compare(PyObject* a, PyObject* b, int op) {
  if (!PyObject_TypeCheck(a, &stream_type) || !PyObject_TypeCheck(b, &stream_type) || (op != Py_EQ && op != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((reinterpret_cast<PyStream*>(a)->value == reinterpret_cast<PyStream*>(b)->value) == (op == Py_EQ));
}
Py_hash_t stream_hash(PyObject* self) {
  return static_cast<Py_hash_t>(reinterpret_cast<size_t>(reinterpret_cast<PyStream*>(self)->value.record()) >> 4);
}
PyObject* stream_device(PyObject* self, void*) {
  return guarded([&] { return from_device(stream_of(self).device()); });
}
PyObject* stream_id(PyObject* self, void*) { return PyLong_FromLong(reinterpret_cast<PyStream*>(self)->value.id()); }
PyObject* stream_priority(PyObject* self, void*) { return PyLong_FromLong(reinterpret_cast<PyStream*>(self)->value.priority()); }
PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS, "Waits until all work queued here is done."},
    {"query", stream_query, METH_NOARGS, "Whether all work queued here is done."},
    fast("wait_stream", with_name<stream_wait_stream, "stream">, "Later work here waits for what the other stream has now."),
    fast("wait_event", with_name<stream_wait_event, "event">, "Later work here waits for the event."),
    {"record_event", stream_record_event, METH_VARARGS, "record_event(event=None)\n\nRecords an event here and gives it."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef stream_attributes[] = {{"device", stream_device, nullptr, "Its GPU.", nullptr},
                                   {"stream_id", stream_id, nullptr, "Its number on its GPU; 0 is the default stream.", nullptr},
                                   {"cuda_stream", stream_id, nullptr, "Its number on its GPU; 0 is the default stream.", nullptr},
                                   {"priority", stream_priority, nullptr, "-1 high, 0 normal.", nullptr},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr}};

// --- Events

PyObject* event_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"enable_timing", "blocking", "interprocess", nullptr};
  int timing = 0, blocking = 0, interprocess = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|ppp:Event", const_cast<char**>(names), &timing, &blocking, &interprocess))
    return nullptr;
  return guarded([&] {
    const AtCaller site;
    cuda::Event event({.enable_timing = timing != 0, .interprocess = interprocess != 0}, site);
    PyObject* const object = checked(type->tp_alloc(type, 0));
    new (&reinterpret_cast<PyEvent*>(object)->value) cuda::Event(std::move(event));
    return object;
  });
}
void event_deallocate(PyObject* self) {
  reinterpret_cast<PyEvent*>(self)->value.~Event();
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
}
PyObject* event_record(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const AtCaller site;
    PyObject* const stream = only_argument(args, count, names);
    if (given(stream)) event_of(self).record(stream_of(stream), site);
    else event_of(self).record(site);
    Py_RETURN_NONE;
  });
}
PyObject* event_wait(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const AtCaller site;
    PyObject* const stream = only_argument(args, count, names);
    event_of(self).wait(given(stream) ? stream_of(stream) : cuda::current_stream(), site);
    Py_RETURN_NONE;
  });
}
PyObject* event_query(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(event_of(self).query()); });
}
PyObject* event_synchronize(PyObject* self, PyObject*) {
  return guarded([&] {
    event_of(self).synchronize(AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* event_elapsed_time(PyObject* self, PyObject* end) {
  return guarded([&] { return PyFloat_FromDouble(event_of(self).elapsed_time(event_of(end), AtCaller())); });
}
PyMethodDef event_methods[] = {
    fast("record", event_record, "record(stream=None)\n\nMarks the end of what is queued now."),
    fast("wait", event_wait, "wait(stream=None)\n\nMakes a stream wait for the record."),
    {"query", event_query, METH_NOARGS, "Whether the record has been passed."},
    {"synchronize", event_synchronize, METH_NOARGS, "Waits until the record has been passed."},
    fast("elapsed_time", with_name<event_elapsed_time, "end_event">, "Milliseconds from this record to that of another event."),
    {nullptr, nullptr, 0, nullptr}};

// --- Graphs

struct PyGraph {
  PyObject_HEAD cuda::Graph value;
};
PyTypeObject graph_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
struct PyPool {
  PyObject_HEAD cuda::GraphPool value;
};
PyTypeObject pool_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

cuda::Graph& graph_of(PyObject* object) { return reinterpret_cast<PyGraph*>(object)->value; }
PyObject* from_pool(cuda::GraphPool pool) {
  auto* object = PyObject_New(PyPool, &pool_type);
  if (!object) throw ErrorIsSet();
  new (&object->value) cuda::GraphPool(std::move(pool));
  return reinterpret_cast<PyObject*>(object);
}
void pool_deallocate(PyObject* self) {
  reinterpret_cast<PyPool*>(self)->value.~GraphPool();
  PyObject_Free(self);
}
PyObject* graph_new(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    cuda::Graph graph;
    PyObject* const object = checked(type->tp_alloc(type, 0));
    new (&reinterpret_cast<PyGraph*>(object)->value) cuda::Graph(std::move(graph));
    return object;
  });
}
void graph_deallocate(PyObject* self) {
  graph_of(self).~Graph();
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
}
PyObject* graph_begin(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&] {
    const AtCaller site;
    PyObject* const pool = only_argument(args, count, names);
    if (given(pool) && Py_TYPE(pool) != &pool_type)
      fail<TypeError>("capture_begin(): pool must be what graph_pool_handle() or pool() gave");
    graph_of(self).capture_begin(given(pool) ? reinterpret_cast<PyPool*>(pool)->value : cuda::GraphPool(), site);
    Py_RETURN_NONE;
  });
}
PyObject* graph_end(PyObject* self, PyObject*) {
  return guarded([&] {
    graph_of(self).capture_end(AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* graph_replay(PyObject* self, PyObject*) {
  return guarded([&] {
    graph_of(self).replay(AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* graph_reset(PyObject* self, PyObject*) {
  return guarded([&] {
    graph_of(self).reset();
    Py_RETURN_NONE;
  });
}
PyObject* graph_pool(PyObject* self, PyObject*) {
  return guarded([&] { return from_pool(graph_of(self).pool()); });
}
PyMethodDef graph_methods[] = {fast("capture_begin", graph_begin, "capture_begin(pool=None)\n\nFrom here on work is recorded, not run."),
                               {"capture_end", graph_end, METH_NOARGS, "Ends the recording."},
                               {"replay", graph_replay, METH_NOARGS, "Queues the recorded work."},
                               {"reset", graph_reset, METH_NOARGS, "Lets go of the work."},
                               {"pool", graph_pool, METH_NOARGS, "The pool that its tensors came from."},
                               {nullptr, nullptr, 0, nullptr}};

// --- Functions of tandem.cuda

PyObject* device_count(PyObject*, PyObject*) {
  return guarded([&] { return PyLong_FromLong(cuda::device_count()); });
}
PyObject* current_device(PyObject*, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    return PyLong_FromLong(cuda::current_device());
  });
}
PyObject* set_device(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    const Device to = gpu_of(device);
    if (to.index() >= 0) cuda::set_device(to.index(), site);
    Py_RETURN_NONE;
  });
}
PyObject* device_properties(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    const cuda::DeviceProperties& p = cuda::get_device_properties(gpu_of(device));
    return Py_BuildValue("{s:s,s:s,s:n,s:i,s:i,s:i,s:O}", "name", p.name.c_str(), "uuid", p.uuid.c_str(), "total_memory",
                         static_cast<Py_ssize_t>(p.total_memory), "multi_processor_count", p.multi_processor_count, "major", p.major,
                         "minor", p.minor, "is_virtual", p.is_virtual ? Py_True : Py_False);
  });
}
PyObject* mem_get_info(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    const auto [free, total] = cuda::mem_get_info(gpu_of(device));
    return Py_BuildValue("nn", static_cast<Py_ssize_t>(free), static_cast<Py_ssize_t>(total));
  });
}
PyObject* can_access_peer(PyObject*, PyObject* args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO", &a, &b)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    return PyBool_FromLong(cuda::can_device_access_peer(gpu_of(a).index(), gpu_of(b).index(), site));
  });
}
PyObject* synchronize(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    cuda::synchronize(gpu_of(device), site);
    Py_RETURN_NONE;
  });
}
PyObject* current_stream(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    return from_stream(&stream_type, cuda::current_stream(gpu_of(device)));
  });
}
PyObject* default_stream(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    return from_stream(&stream_type, cuda::default_stream(gpu_of(device)));
  });
}
PyObject* set_stream(PyObject*, PyObject* stream) {
  return guarded([&] {
    const AtCaller site;
    cuda::set_stream(stream_of(stream));
    Py_RETURN_NONE;
  });
}
PyObject* use_virtual_gpus(PyObject*, PyObject* specification) {
  return guarded([&] {
    const AtCaller site;
    cuda::use_virtual_gpus(to_text(specification), site);
    Py_RETURN_NONE;
  });
}

template <size_t (*f)(Device)>
PyObject* memory_figure(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    return PyLong_FromSize_t(f(gpu_of(device)));
  });
}
template <void (*f)(Device)>
PyObject* memory_reset(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    f(gpu_of(device));
    Py_RETURN_NONE;
  });
}
void put_stat(PyObject* into, const std::string& name, const cuda::Stat& stat) {
  const std::pair<const char*, size_t> parts[] = {
      {"current", stat.current}, {"peak", stat.peak}, {"allocated", stat.allocated}, {"freed", stat.freed}};
  for (const auto& [part, value] : parts) {
    const Object number = Object::take(checked(PyLong_FromSize_t(value)));
    if (PyDict_SetItemString(into, (name + '.' + part).c_str(), number.get()) != 0) throw ErrorIsSet();
  }
}
PyObject* memory_stats(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    const cuda::MemoryStats stats = cuda::memory_stats(gpu_of(device));
    Object result = Object::take(checked(PyDict_New()));
    const std::pair<const char*, const cuda::StatByPool*> all[] = {{"allocation", &stats.allocation},
                                                                   {"segment", &stats.segment},
                                                                   {"active", &stats.active},
                                                                   {"inactive_split", &stats.inactive_split},
                                                                   {"allocated_bytes", &stats.allocated_bytes},
                                                                   {"reserved_bytes", &stats.reserved_bytes},
                                                                   {"active_bytes", &stats.active_bytes},
                                                                   {"inactive_split_bytes", &stats.inactive_split_bytes},
                                                                   {"requested_bytes", &stats.requested_bytes}};
    for (const auto& [name, stat] : all) {
      put_stat(result.get(), str(name, ".all"), stat->all);
      put_stat(result.get(), str(name, ".small_pool"), stat->small_pool);
      put_stat(result.get(), str(name, ".large_pool"), stat->large_pool);
    }
    for (const auto& [name, value] : {std::pair("num_alloc_retries", stats.num_alloc_retries), std::pair("num_ooms", stats.num_ooms)}) {
      const Object number = Object::take(checked(PyLong_FromLongLong(value)));
      if (PyDict_SetItemString(result.get(), name, number.get()) != 0) throw ErrorIsSet();
    }
    return result.release();
  });
}
PyObject* memory_summary(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    return from_text(cuda::memory_summary(gpu_of(device)));
  });
}
PyObject* memory_snapshot(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    Object result = Object::take(checked(PyList_New(0)));
    for (const cuda::SegmentInfo& segment : cuda::memory_snapshot(gpu_of(device))) {
      Object blocks = Object::take(checked(PyList_New(0)));
      for (const cuda::BlockInfo& block : segment.blocks) {
        const Object entry = Object::take(checked(Py_BuildValue("{s:n,s:n,s:s,s:s,s:i}", "size", static_cast<Py_ssize_t>(block.size),
                                                                "requested_size", static_cast<Py_ssize_t>(block.requested_size), "state",
                                                                block.state.c_str(), "file", block.file.c_str(), "line", block.line)));
        if (PyList_Append(blocks.get(), entry.get()) != 0) throw ErrorIsSet();
      }
      const Object entry = Object::take(checked(Py_BuildValue(
          "{s:i,s:K,s:n,s:n,s:n,s:s,s:i,s:O}", "device", segment.device, "address", static_cast<unsigned long long>(segment.address),
          "total_size", static_cast<Py_ssize_t>(segment.total_size), "allocated_size", static_cast<Py_ssize_t>(segment.allocated_size),
          "active_size", static_cast<Py_ssize_t>(segment.active_size), "segment_type", segment.is_large ? "large" : "small", "stream",
          segment.stream, "blocks", blocks.get())));
      if (PyList_Append(result.get(), entry.get()) != 0) throw ErrorIsSet();
    }
    return result.release();
  });
}
PyObject* memory_fraction(PyObject*, PyObject* args) {
  double fraction;
  PyObject* device;
  if (!PyArg_ParseTuple(args, "dO", &fraction, &device)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    cuda::set_per_process_memory_fraction(fraction, gpu_of(device), site);
    Py_RETURN_NONE;
  });
}
PyObject* empty_cache(PyObject*, PyObject*) {
  return guarded([&] {
    cuda::empty_cache(AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* pool_handle(PyObject*, PyObject*) {
  return guarded([&] {
    const AtCaller site;
    return from_pool(cuda::graph_pool_handle());
  });
}
PyObject* capturing(PyObject*, PyObject*) {
  return guarded([&] { return PyBool_FromLong(cuda::is_current_stream_capturing()); });
}

PyMethodDef functions[] = {{"device_count", device_count, METH_NOARGS, nullptr},
                           {"current_device", current_device, METH_NOARGS, nullptr},
                           {"set_device", set_device, METH_O, nullptr},
                           {"device_properties", device_properties, METH_O, nullptr},
                           {"mem_get_info", mem_get_info, METH_O, nullptr},
                           {"can_device_access_peer", can_access_peer, METH_VARARGS, nullptr},
                           {"synchronize", synchronize, METH_O, nullptr},
                           {"current_stream", current_stream, METH_O, nullptr},
                           {"default_stream", default_stream, METH_O, nullptr},
                           {"set_stream", set_stream, METH_O, nullptr},
                           {"use_virtual_gpus", use_virtual_gpus, METH_O, nullptr},
                           {"memory_allocated", memory_figure<cuda::memory_allocated>, METH_O, nullptr},
                           {"max_memory_allocated", memory_figure<cuda::max_memory_allocated>, METH_O, nullptr},
                           {"memory_reserved", memory_figure<cuda::memory_reserved>, METH_O, nullptr},
                           {"max_memory_reserved", memory_figure<cuda::max_memory_reserved>, METH_O, nullptr},
                           {"reset_peak_memory_stats", memory_reset<cuda::reset_peak_memory_stats>, METH_O, nullptr},
                           {"reset_accumulated_memory_stats", memory_reset<cuda::reset_accumulated_memory_stats>, METH_O, nullptr},
                           {"memory_stats", memory_stats, METH_O, nullptr},
                           {"memory_summary", memory_summary, METH_O, nullptr},
                           {"memory_snapshot", memory_snapshot, METH_O, nullptr},
                           {"set_per_process_memory_fraction", memory_fraction, METH_VARARGS, nullptr},
                           {"empty_cache", empty_cache, METH_NOARGS, nullptr},
                           {"graph_pool_handle", pool_handle, METH_NOARGS, nullptr},
                           {"is_current_stream_capturing", capturing, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

PyObject* tensor_record_stream(PyObject* self, PyObject* stream) {
  return guarded([&] {
    const AtCaller site;
    tensor_of(self).record_stream(stream_of(stream));
    Py_RETURN_NONE;
  });
}

}  // namespace

void register_device_methods() {
  add_to(Place::Method, fast("record_stream", with_name<tensor_record_stream, "stream">,
                             "Its memory is used on a stream too: it is not given out again before that stream has passed this point."));
}

bool add_devices(PyObject* parent) {
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "tandem._C.cuda", "GPUs, for tandem.cuda.", -1, functions, nullptr, nullptr, nullptr, nullptr};
  stream_type.tp_repr = stream_repr;
  stream_type.tp_richcompare = stream_compare;
  stream_type.tp_hash = stream_hash;
  constexpr unsigned long flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  if (!ready(stream_type, {.name = "tandem.cuda.Stream",
                           .size = sizeof(PyStream),
                           .make = stream_new,
                           .methods = stream_methods,
                           .attributes = stream_attributes,
                           .flags = flags}) ||
      !ready(event_type, {.name = "tandem.cuda.Event",
                          .size = sizeof(PyEvent),
                          .deallocate = event_deallocate,
                          .make = event_new,
                          .methods = event_methods,
                          .flags = flags}) ||
      !ready(graph_type, {.name = "tandem.cuda.CUDAGraph",
                          .size = sizeof(PyGraph),
                          .deallocate = graph_deallocate,
                          .make = graph_new,
                          .methods = graph_methods,
                          .flags = flags}) ||
      !ready(pool_type, {.name = "tandem.cuda.GraphPool", .size = sizeof(PyPool), .deallocate = pool_deallocate, .flags = flags}))
    return false;
  const Object module = Object::take(PyModule_Create(&definition));
  return module && PyModule_AddObjectRef(module.get(), "Stream", reinterpret_cast<PyObject*>(&stream_type)) == 0 &&
         PyModule_AddObjectRef(module.get(), "Event", reinterpret_cast<PyObject*>(&event_type)) == 0 &&
         PyModule_AddObjectRef(module.get(), "CUDAGraph", reinterpret_cast<PyObject*>(&graph_type)) == 0 &&
         PyModule_AddObjectRef(parent, "cuda", module.get()) == 0;
}

}  // namespace tandem::python
