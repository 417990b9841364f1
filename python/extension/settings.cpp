#include "settings.h"

#include <memory>
#include <vector>

#include "bindings.h"

namespace tandem::python {
namespace {

PyObject* get_default(PyObject*, PyObject*) { return from_dtype(get_default_dtype()); }
PyObject* set_default(PyObject*, PyObject* dtype) {
  return guarded([&] {
    const AtCaller site;
    set_default_dtype(to_dtype(dtype), site);
    Py_RETURN_NONE;
  });
}
PyObject* get_device(PyObject*, PyObject*) {
  return guarded([&] { return from_device(default_device().value_or(Device())); });
}
PyObject* set_device(PyObject*, PyObject* device) {
  return guarded([&] {
    const AtCaller site;
    if (given(device)) default_device() = to_device(device);
    else default_device().reset();
    Py_RETURN_NONE;
  });
}
PyObject* promote(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* const names[] = {"type1", "type2", nullptr};
  PyObject *a, *b;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:promote_types", const_cast<char**>(names), &a, &b)) return nullptr;
  return guarded([&] { return from_dtype(promote_types(to_dtype(a), to_dtype(b))); });
}
PyObject* castable(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* const names[] = {"from_", "to", nullptr};
  PyObject *from, *to;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:can_cast", const_cast<char**>(names), &from, &to)) return nullptr;
  return guarded([&] { return PyBool_FromLong(can_cast(to_dtype(from), to_dtype(to))); });
}
PyObject* get_threads(PyObject*, PyObject*) { return PyLong_FromLong(get_num_threads()); }
PyObject* set_threads(PyObject*, PyObject* count) {
  return guarded([&] {
    const AtCaller site;
    const int64_t wanted = to_int(count);
    if (wanted <= 0) fail("set_num_threads expects a positive integer");
    set_num_threads(static_cast<int>(wanted));
    Py_RETURN_NONE;
  });
}
PyObject* set_deterministic(PyObject*, PyObject* mode) {
  return guarded([&] {
    use_deterministic_algorithms(to_bool(mode));
    Py_RETURN_NONE;
  });
}
/// _backend(name) reads a switch of torch.backends, _backend(name, value) sets it.
PyObject* backend(PyObject*, PyObject* args) {
  const char* name;
  int value = -1;
  if (!PyArg_ParseTuple(args, "s|p", &name, &value)) return nullptr;
  static constexpr std::pair<std::string_view, std::atomic<bool>*> switches[] = {
      {"cuda.matmul.allow_tf32", &backends::cuda::matmul::allow_tf32},
      {"cudnn.enabled", &backends::cudnn::enabled},
      {"cudnn.allow_tf32", &backends::cudnn::allow_tf32},
      {"cudnn.benchmark", &backends::cudnn::benchmark},
      {"cudnn.deterministic", &backends::cudnn::deterministic}};
  for (const auto& [known, flag] : switches) {
    if (known != name) continue;
    if (value >= 0) *flag = value != 0;
    return PyBool_FromLong(*flag);
  }
  return PyErr_Format(PyExc_AttributeError, "backends has no switch %s", name);
}
PyObject* get_deterministic(PyObject*, PyObject*) { return PyBool_FromLong(are_deterministic_algorithms_enabled()); }
PyObject* get_printing(PyObject*, PyObject*) {
  const PrintOptions options = get_print_options();
  PyObject* const sci_mode = options.sci_mode ? PyBool_FromLong(*options.sci_mode) : Py_NewRef(Py_None);
  return Py_BuildValue("iLLiN", options.precision, static_cast<long long>(options.threshold), static_cast<long long>(options.edgeitems),
                       options.linewidth, sci_mode);
}
PyObject* set_printing(PyObject*, PyObject* args) {
  int precision, linewidth;
  long long threshold, edgeitems;
  PyObject* sci_mode;
  if (!PyArg_ParseTuple(args, "iLLiO", &precision, &threshold, &edgeitems, &linewidth, &sci_mode)) return nullptr;
  PrintOptions options = get_print_options();
  options.precision = precision;
  options.threshold = threshold;
  options.edgeitems = edgeitems;
  options.linewidth = linewidth;
  options.sci_mode = sci_mode == Py_None ? std::nullopt : std::optional(PyObject_IsTrue(sci_mode) == 1);
  set_print_options(options);
  Py_RETURN_NONE;
}

// --- autocast

struct Autocast {
  static constexpr const char* kName = "tandem._C.autocast";
  std::unique_ptr<AutocastGuard> guard;
};
PyObject* autocast_enter(PyObject*, PyObject* args) {
  PyObject *device, *dtype, *cache;
  int enabled;
  if (!PyArg_ParseTuple(args, "OOpO", &device, &dtype, &enabled, &cache)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    AutocastOptions options{.enabled = enabled != 0};
    if (given(dtype)) options.dtype = to_dtype(dtype);
    if (given(cache)) options.cache_enabled = to_bool(cache);
    auto held = std::make_unique<Autocast>();
    held->guard = std::make_unique<AutocastGuard>(to_device(device), options, site);
    return PyCapsule_New(held.release(), Autocast::kName,
                         [](PyObject* capsule) { delete static_cast<Autocast*>(PyCapsule_GetPointer(capsule, Autocast::kName)); });
  });
}
PyObject* autocast_exit(PyObject*, PyObject* token) {
  return guarded([&] {
    auto* held = static_cast<Autocast*>(PyCapsule_GetPointer(token, Autocast::kName));
    if (!held) throw ErrorIsSet();
    held->guard.reset();
    Py_RETURN_NONE;
  });
}
PyObject* autocast_enabled(PyObject*, PyObject* device) {
  return guarded([&] { return PyBool_FromLong(is_autocast_enabled(to_device(device))); });
}
PyObject* autocast_dtype(PyObject*, PyObject* device) {
  return guarded([&] { return from_dtype(get_autocast_dtype(to_device(device))); });
}

// --- The package

PyObject* package_folder(PyObject*, PyObject* folder) {
  return guarded([&] {
    set_package_folder(std::string(to_text(folder)).c_str());
    Py_RETURN_NONE;
  });
}
PyObject* cell_namer(PyObject*, PyObject* namer) {
  set_cell_namer(namer);
  Py_RETURN_NONE;
}
PyObject* prefix(PyObject*, PyObject* text) {
  return guarded([&] {
    set_module_prefix(std::string(to_text(text)).c_str());
    static std::string name;  // the type does not copy it
    name = str(module_prefix(), "Tensor");
    tensor_type.tp_name = name.c_str();
    PyType_Modified(&tensor_type);
    Py_RETURN_NONE;
  });
}
PyObject* where(PyObject*, PyObject*) {
  const Site site = caller();
  return Py_BuildValue("si", site.file, site.line);
}
/// _extend(type, name, value): gives a type of this extension a method or attribute that is written in Python.
PyObject* extend(PyObject*, PyObject* args) {
  PyObject *type, *name, *value;
  if (!PyArg_ParseTuple(args, "O!UO", &PyType_Type, &type, &name, &value)) return nullptr;
  Py_INCREF(name);  // interning may let go of it for another object of the same text
  PyUnicode_InternInPlace(&name);
  const Object held = Object::take(name);
  auto* const extended = reinterpret_cast<PyTypeObject*>(type);
  if (PyDict_SetItem(extended->tp_dict, name, value) != 0) return nullptr;
  PyType_Modified(extended);
  Py_RETURN_NONE;
}
/// _set_old_forms(f): calls that no signature fits go to f(name, is_method, args, kwargs), which gives NotImplemented for others.
PyObject* old_forms(PyObject*, PyObject* function) {
  set_old_forms(function);
  Py_RETURN_NONE;
}
/// Warnings of the library become Python's.
PyObject* set_warnings(PyObject*, PyObject* function) {
  return guarded([&] {
    const Shared held(function);
    set_warning_handler([held](const std::string& text) {
      const WithLock lock;
      const Object argument = Object::take(from_text(text));
      const Object result = Object::take(PyObject_CallOneArg(held.get(), argument.get()));
      if (!result) throw_set();
    });
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"get_default_dtype", get_default, METH_NOARGS, "The dtype of floating numbers without one of their own."},
    fast("set_default_dtype", with_name<set_default, "d">, "Sets it."),
    {"get_default_device", get_device, METH_NOARGS, "Where tensors are made that are given no device."},
    fast("set_default_device", with_name<set_device, "device">, "Sets it for the calling thread; None for the CPU."),
    {"promote_types", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(promote)), METH_VARARGS | METH_KEYWORDS,
     "promote_types(type1, type2)"},
    {"can_cast", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(castable)), METH_VARARGS | METH_KEYWORDS, "can_cast(from_, to)"},
    {"get_num_threads", get_threads, METH_NOARGS, "How many threads compute."},
    {"set_num_threads", set_threads, METH_O, "Sets how many threads compute."},
    {"_use_deterministic", set_deterministic, METH_O, nullptr},
    {"_backend", backend, METH_VARARGS, nullptr},
    {"are_deterministic_algorithms_enabled", get_deterministic, METH_NOARGS, nullptr},
    {"_get_printing", get_printing, METH_NOARGS, nullptr},
    {"_set_printing", set_printing, METH_VARARGS, nullptr},
    {"_autocast_enter", autocast_enter, METH_VARARGS, "_autocast_enter(device, dtype, enabled, cache_enabled)"},
    {"_autocast_exit", autocast_exit, METH_O, nullptr},
    {"_autocast_enabled", autocast_enabled, METH_O, nullptr},
    {"_autocast_dtype", autocast_dtype, METH_O, nullptr},
    {"_package_folder", package_folder, METH_O, nullptr},
    {"_cell_namer", cell_namer, METH_O, nullptr},
    {"_module_prefix", prefix, METH_O, nullptr},
    {"_where", where, METH_NOARGS, nullptr},
    {"_extend", extend, METH_VARARGS, nullptr},
    {"_set_old_forms", old_forms, METH_O, nullptr},
    {"_set_warnings", set_warnings, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_settings(PyObject* module) {
  return PyModule_AddFunctions(module, functions) == 0 && PyModule_AddStringConstant(module, "version", version()) == 0;
}

}  // namespace tandem::python
