#include "seeing.h"

#include <memory>
#include <string>

#include "bindings.h"
#include "words.h"

namespace tandem::python {
namespace {

/// An object of C++ that Python holds by pointer, and ends when it likes.
template <class T>
struct Held {
  PyObject_HEAD T* value;
};
template <class T>
PyTypeObject held_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

template <class T>
PyObject* hold(std::unique_ptr<T> value) {
  auto* object = PyObject_New(Held<T>, &held_type<T>);
  if (!object) throw ErrorIsSet();
  object->value = value.release();
  return reinterpret_cast<PyObject*>(object);
}
template <class T>
T& held(PyObject* object) {
  T* const value = reinterpret_cast<Held<T>*>(object)->value;
  if (!value) fail("this ", Py_TYPE(object)->tp_name, " has ended");
  return *value;
}
template <class T>
PyObject* end(PyObject* object, PyObject*) {
  return guarded([&] {
    const std::unique_ptr<T> last(std::exchange(reinterpret_cast<Held<T>*>(object)->value, nullptr));
    Py_RETURN_NONE;
  });
}
template <class T>
void deallocate(PyObject* object) {
  delete reinterpret_cast<Held<T>*>(object)->value;
  PyObject_Free(object);
}
template <class T>
bool ready(const char* name, PyMethodDef* methods) {
  PyTypeObject& type = held_type<T>;
  type.tp_name = name;
  type.tp_basicsize = sizeof(Held<T>);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_dealloc = deallocate<T>;
  type.tp_methods = methods;
  return PyType_Ready(&type) == 0;
}

void append(PyObject* list, PyObject* owned) {
  const Object item = Object::take(checked(owned));
  if (PyList_Append(list, item.get()) != 0) throw ErrorIsSet();
}
std::string text_of(std::string_view text) { return std::string(text); }

// --- The ledger

PyObject* wrap_entry(const ledger::Entry& e) {
  const Object from = Object::take(from_device(e.from)), to = Object::take(from_device(e.to));
  return Py_BuildValue("{s:s,s:s,s:O,s:O,s:n,s:O,s:O,s:O,s:d,s:s,s:i,s:i,s:s,s:O}", "kind", text_of(ledger::name(e.kind)).c_str(), "op",
                       text_of(e.op).c_str(), "from_device", from.get(), "to_device", to.get(), "bytes", static_cast<Py_ssize_t>(e.bytes),
                       "pinned", e.pinned ? Py_True : Py_False, "blocking", e.blocking ? Py_True : Py_False, "asked_non_blocking",
                       e.asked_non_blocking ? Py_True : Py_False, "waited", static_cast<double>(e.waited.count()) * 1e-9, "file",
                       text_of(e.file).c_str(), "line", e.line, "stream", e.stream, "reason", text_of(e.reason).c_str(), "own",
                       e.own ? Py_True : Py_False);
}
PyObject* entries(PyObject* self, PyObject*) {
  return guarded([&] {
    Object list = Object::take(checked(PyList_New(0)));
    for (const ledger::Entry& entry : held<ledger::Recorder>(self).entries()) append(list.get(), wrap_entry(entry));
    return list.release();
  });
}
PyObject* report(PyObject* self, PyObject*) {
  return guarded([&] { return from_text(in_python(held<ledger::Recorder>(self).report())); });
}
PyObject* clear(PyObject* self, PyObject*) {
  return guarded([&] {
    held<ledger::Recorder>(self).clear();
    Py_RETURN_NONE;
  });
}
PyMethodDef recorder_methods[] = {{"entries", entries, METH_NOARGS, "Its entries as dictionaries, in the order in which they ended."},
                                  {"report", report, METH_NOARGS, "The entries as a table."},
                                  {"clear", clear, METH_NOARGS, "Forgets them."},
                                  {"end", end<ledger::Recorder>, METH_NOARGS, "Records no more, and forgets."},
                                  {nullptr, nullptr, 0, nullptr}};
PyObject* start_recorder(PyObject*, PyObject*) {
  return guarded([&] { return hold(std::make_unique<ledger::Recorder>()); });
}
PyMethodDef guard_methods[] = {{"end", end<ledger::Guard>, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyObject* start_guard(PyObject*, PyObject* args) {
  const char *mode, *reason;
  if (!PyArg_ParseTuple(args, "ss", &mode, &reason)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    const std::string_view wanted = mode;
    if (wanted != "allow" && wanted != "log" && wanted != "forbid")
      fail<ValueError>("mode takes 'allow', 'log' or 'forbid', not '", wanted, '\'');
    PyObject* const kept = from_text(reason);  // for good: a guard's reason lives as long as the process
    return hold(std::make_unique<ledger::Guard>(wanted == "allow" ? ledger::Mode::allow
                                                : wanted == "log" ? ledger::Mode::log
                                                                  : ledger::Mode::forbid,
                                                to_text(kept), site));
  });
}
PyObject* call_before_waits(PyObject*, PyObject* function) {
  return guarded([&] {
    if (function == Py_None) {
      ledger::call_before_waits(nullptr);
    } else {
      ledger::call_before_waits([held = Shared(function)](const ledger::Entry& entry) {
        const WithLock lock;
        const Object argument = Object::take(checked(wrap_entry(entry)));
        const Object result = Object::take(PyObject_CallOneArg(held.get(), argument.get()));
        if (!result) throw_set();
      });
    }
    Py_RETURN_NONE;
  });
}
PyObject* log_report(PyObject*, PyObject*) {
  return guarded([&] { return from_text(in_python(ledger::log_report())); });
}

// --- Races

PyObject* operation(const races::Operation& o) {
  const Object device = Object::take(from_device(o.device));
  return Py_BuildValue("{s:s,s:s,s:i,s:O,s:i,s:O}", "name", o.name.c_str(), "file", o.file.c_str(), "line", o.line, "device", device.get(),
                       "stream", o.stream, "writes", o.writes ? Py_True : Py_False);
}
PyObject* race_reports(PyObject* self, PyObject*) {
  return guarded([&] {
    Object list = Object::take(checked(PyList_New(0)));
    for (const races::Report& r : held<races::Checker>(self).reports()) {
      const Object device = Object::take(from_device(r.device)), sizes = Object::take(from_shape(r.sizes)),
                   dtype = Object::take(from_dtype(r.dtype));
      append(list.get(),
             Py_BuildValue("{s:s,s:N,s:N,s:O,s:n,s:O,s:O,s:s,s:L}", "text", r.text.c_str(), "first", operation(r.first), "second",
                           operation(r.second), "device", device.get(), "bytes", static_cast<Py_ssize_t>(r.bytes), "sizes", sizes.get(),
                           "dtype", dtype.get(), "missing", r.missing.c_str(), "count", static_cast<long long>(r.count)));
    }
    return list.release();
  });
}
PyObject* races_clear(PyObject* self, PyObject*) {
  return guarded([&] {
    held<races::Checker>(self).clear();
    Py_RETURN_NONE;
  });
}
PyMethodDef checker_methods[] = {{"reports", race_reports, METH_NOARGS, "What was found, as dictionaries."},
                                 {"clear", races_clear, METH_NOARGS, "Forgets the reports."},
                                 {"end", end<races::Checker>, METH_NOARGS, "Looks no more."},
                                 {nullptr, nullptr, 0, nullptr}};
PyObject* start_checker(PyObject*, PyObject*) {
  return guarded([&] { return hold(std::make_unique<races::Checker>()); });
}

// --- The profiler

PyObject* profile_step(PyObject* self, PyObject*) {
  return guarded([&] {
    held<profiler::Profile>(self).step(AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* profile_stop(PyObject* self, PyObject*) {
  return guarded([&] {
    held<profiler::Profile>(self).stop();
    Py_RETURN_NONE;
  });
}
PyObject* profile_events(PyObject* self, PyObject*) {
  return guarded([&] {
    Object list = Object::take(checked(PyList_New(0)));
    for (const profiler::Event& e : held<profiler::Profile>(self).events(AtCaller())) {
      const Object device = Object::take(from_device(e.device));
      const Object shapes = Object::take(checked(PyList_New(0)));
      for (const std::vector<int64_t>& sizes : e.shapes) append(shapes.get(), from_shape(sizes));
      append(
          list.get(),
          Py_BuildValue("{s:s,s:s,s:O,s:i,s:d,s:d,s:s,s:i,s:L,s:L,s:L,s:L,s:L,s:L,s:O}", "name", e.name.c_str(), "category",
                        e.category.c_str(), "device", device.get(), "stream", e.stream, "start",
                        static_cast<double>(e.start.count()) * 1e-9, "duration", static_cast<double>(e.duration.count()) * 1e-9, "file",
                        e.file.c_str(), "line", e.line, "bytes", static_cast<long long>(e.bytes), "flops", static_cast<long long>(e.flops),
                        "id", static_cast<long long>(e.id), "parent", static_cast<long long>(e.parent), "launch",
                        static_cast<long long>(e.launch), "forward_id", static_cast<long long>(e.forward_id), "shapes", shapes.get()));
    }
    return list.release();
  });
}
PyObject* profile_table(PyObject* self, PyObject* args) {
  const char* sort_by;
  long long limit;
  int by_shape;
  if (!PyArg_ParseTuple(args, "sLp", &sort_by, &limit, &by_shape)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    return from_text(held<profiler::Profile>(self).key_averages(by_shape != 0).table({.sort_by = sort_by, .row_limit = limit}, site));
  });
}
PyObject* profile_averages(PyObject* self, PyObject* by_shape) {
  return guarded([&] {
    Object list = Object::take(checked(PyList_New(0)));
    for (const profiler::KeyAverage& a : held<profiler::Profile>(self).key_averages(to_bool(by_shape)))
      append(list.get(), Py_BuildValue("{s:s,s:L,s:d,s:d,s:d,s:d,s:L,s:L}", "key", a.key.c_str(), "count", static_cast<long long>(a.count),
                                       "cpu_time_total", static_cast<double>(a.cpu_time_total.count()) * 1e-3, "self_cpu_time_total",
                                       static_cast<double>(a.self_cpu_time_total.count()) * 1e-3, "device_time_total",
                                       static_cast<double>(a.device_time_total.count()) * 1e-3, "self_device_time_total",
                                       static_cast<double>(a.self_device_time_total.count()) * 1e-3, "memory",
                                       static_cast<long long>(a.memory), "flops", static_cast<long long>(a.flops)));
    return list.release();
  });
}
PyObject* profile_trace(PyObject* self, PyObject* path) {
  return guarded([&] {
    held<profiler::Profile>(self).export_chrome_trace(std::string(to_text(path)));
    Py_RETURN_NONE;
  });
}
PyObject* profile_stacks(PyObject* self, PyObject* args) {
  const char *path, *metric;
  if (!PyArg_ParseTuple(args, "ss", &path, &metric)) return nullptr;
  return guarded([&] {
    held<profiler::Profile>(self).export_stacks(path, metric, AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* profile_flames(PyObject* self, PyObject* path) {
  return guarded([&] {
    held<profiler::Profile>(self).export_flame_graph(std::string(to_text(path)));
    Py_RETURN_NONE;
  });
}
PyMethodDef profile_methods[] = {{"step", profile_step, METH_NOARGS, nullptr},
                                 {"stop", profile_stop, METH_NOARGS, nullptr},
                                 {"events", profile_events, METH_NOARGS, nullptr},
                                 {"table", profile_table, METH_VARARGS, nullptr},
                                 {"averages", profile_averages, METH_O, nullptr},
                                 {"export_chrome_trace", profile_trace, METH_O, nullptr},
                                 {"export_stacks", profile_stacks, METH_VARARGS, nullptr},
                                 {"export_flame_graph", profile_flames, METH_O, nullptr},
                                 {nullptr, nullptr, 0, nullptr}};
PyObject* start_profile(PyObject*, PyObject* args) {
  int wait, warmup, active, repeat, skip, shapes, memory, flops;
  PyObject* ready_hook;
  if (!PyArg_ParseTuple(args, "iiiiipppO", &wait, &warmup, &active, &repeat, &skip, &shapes, &memory, &flops, &ready_hook)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    profiler::ProfileOptions options{.schedule = {.wait = wait, .warmup = warmup, .active = active, .repeat = repeat, .skip_first = skip},
                                     .record_shapes = shapes != 0,
                                     .profile_memory = memory != 0,
                                     .with_flops = flops != 0};
    if (given(ready_hook)) {
      const Shared hook(ready_hook);
      options.on_trace_ready = [hook](profiler::Profile&) {
        const WithLock lock;
        const Object result = Object::take(PyObject_CallNoArgs(hook.get()));
        if (!result) throw_set();
      };
    }
    return hold(std::make_unique<profiler::Profile>(std::move(options)));
  });
}
PyMethodDef range_methods[] = {{"end", end<profiler::RecordFunction>, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyObject* start_range(PyObject*, PyObject* name) {
  return guarded([&] {
    const AtCaller site;
    return hold(std::make_unique<profiler::RecordFunction>(to_text(name), site));
  });
}

// --- Memory and the table of GPUs

PyObject* record_history(PyObject*, PyObject* args) {
  int on;
  long long most;
  if (!PyArg_ParseTuple(args, "pL", &on, &most)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    if (on) cuda::memory::record_history({.max_entries = static_cast<size_t>(most)}, site);
    else cuda::memory::record_history(false, site);
    Py_RETURN_NONE;
  });
}
PyObject* dump_snapshot(PyObject*, PyObject* path) {
  return guarded([&] {
    cuda::memory::dump_snapshot(std::string(to_text(path)));
    Py_RETURN_NONE;
  });
}
PyObject* write_memory_page(PyObject*, PyObject* path) {
  return guarded([&] {
    cuda::memory::write_page(std::string(to_text(path)));
    Py_RETURN_NONE;
  });
}
PyObject* smi_table(PyObject*, PyObject* all) {
  return guarded([&] {
    std::string table;
    const bool everybody = to_bool(all);
    {
      const WithoutLock unlocked;
      table = everybody ? smi::table(smi::query_all()) : smi::table();
    }
    return from_text(table);
  });
}
PyObject* host_memory(PyObject*, PyObject*) {
  return guarded([&] { return from_text(host_memory_summary()); });
}

PyMethodDef functions[] = {{"start_recorder", start_recorder, METH_NOARGS, nullptr},
                           {"start_guard", start_guard, METH_VARARGS, nullptr},
                           {"call_before_waits", call_before_waits, METH_O, nullptr},
                           {"log_report", log_report, METH_NOARGS, nullptr},
                           {"start_checker", start_checker, METH_NOARGS, nullptr},
                           {"start_profile", start_profile, METH_VARARGS, nullptr},
                           {"start_range", start_range, METH_O, nullptr},
                           {"record_history", record_history, METH_VARARGS, nullptr},
                           {"dump_snapshot", dump_snapshot, METH_O, nullptr},
                           {"write_memory_page", write_memory_page, METH_O, nullptr},
                           {"smi_table", smi_table, METH_O, nullptr},
                           {"host_memory_summary", host_memory, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_seeing(PyObject* parent) {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "tandem._C.seeing",
                                   "Copies, waits, races, time and memory.",
                                   -1,
                                   functions,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  if (!ready<ledger::Recorder>("tandem._C.seeing.Recorder", recorder_methods) ||
      !ready<ledger::Guard>("tandem._C.seeing.Guard", guard_methods) ||
      !ready<races::Checker>("tandem._C.seeing.Checker", checker_methods) ||
      !ready<profiler::Profile>("tandem._C.seeing.Profile", profile_methods) ||
      !ready<profiler::RecordFunction>("tandem._C.seeing.Range", range_methods))
    return false;
  const Object module = Object::take(PyModule_Create(&definition));
  return module && PyModule_AddObjectRef(parent, "seeing", module.get()) == 0;
}

}  // namespace tandem::python
