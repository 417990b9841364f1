#include "compile.h"

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/splitmix.h"
#include "bindings.h"
#include "runtime/tracer.h"

namespace tandem::python {
namespace {

/// A parameter or buffer of a module.
struct Slot {
  Tensor tensor;
  bool is_buffer;
};

/// What a module of Python and those below it have at a call.
class Looked {
 public:
  explicit Looked(PyObject* module) { look(module); }

  std::vector<Slot> slots;
  /// Changes with all that forward may go by and that is no tensor: modes, numbers, texts, which modules there are.
  uint64_t settings = 0;
  bool has_hooks = false;
  bool training = false;

 private:
  /// Mixed well: Python's hashes of 1.0 and 1.5 differ in one high bit alone.
  void add(size_t hash) {
    uint64_t mixed = settings ^ hash;
    settings = tandem::detail::splitmix64(mixed);
  }

  void look(PyObject* module) {
    if (std::find(met_.begin(), met_.end(), module) != met_.end()) return;
    met_.push_back(module);
    const Object attributes = Object::take(checked(PyObject_GenericGetDict(module, nullptr)));
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(attributes.get(), &at, &key, &value);) {
      if (!PyUnicode_Check(key)) continue;
      const std::string_view name = to_text(key);
      if (name == "_parameters" || name == "_buffers") {
        look_at_tensors(value, name == "_buffers");
      } else if (name == "_modules") {
        look_at_modules(value);
      } else if (name.ends_with("_hooks")) {
        has_hooks |= PyDict_Check(value) && PyDict_Size(value) > 0;
      } else if (!is_tensor(value)) {
        if (met_.size() == 1 && name == "training") training = value == Py_True;
        add(reinterpret_cast<size_t>(key));
        add(hash_of(value));
      }
    }
  }
  void look_at_tensors(PyObject* registry, bool are_buffers) {
    PyObject *key, *value;
    if (!PyDict_Check(registry)) return;
    for (Py_ssize_t at = 0; PyDict_Next(registry, &at, &key, &value);)
      if (is_tensor(value)) slots.push_back({tensor_of(value), are_buffers});
  }
  void look_at_modules(PyObject* registry) {
    PyObject *key, *value;
    if (!PyDict_Check(registry)) return;
    for (Py_ssize_t at = 0; PyDict_Next(registry, &at, &key, &value);) {
      add(reinterpret_cast<size_t>(value));
      if (given(value)) look(value);
    }
  }
  /// By value where the object is a number or a text, or a tuple of those; else by identity.
  static size_t hash_of(PyObject* value) {
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyUnicode_CheckExact(value) || PyTuple_CheckExact(value)) {
      const Py_hash_t hash = PyObject_Hash(value);
      if (hash != -1) return static_cast<size_t>(hash);
      PyErr_Clear();
    }
    return reinterpret_cast<size_t>(value);
  }

  std::vector<PyObject*> met_;
};

struct PyCompiled;

/// A module of Python as the library sees it, with the tensors that it has now.
class PythonModule final : public nn::Module {
 public:
  explicit PythonModule(PyCompiled& owner) : owner_(owner) {}

  void take(std::vector<Slot> slots, bool training) {
    slots_ = std::move(slots);
    if (training != this->training()) train(training);
  }
  void fields(nn::Fields& f) override {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].is_buffer) f.buffer("buffer" + std::to_string(i), slots_[i].tensor);
      else f("parameter" + std::to_string(i), slots_[i].tensor);
    }
  }
  [[nodiscard]] std::string name() const override { return "PythonModule"; }
  Tensor forward(const Tensor& x) override;
  /// What the last call of forward outside of a trace gave, where it was no tensor or is to be given as it is.
  Object given;

 private:
  PyCompiled& owner_;
  std::vector<Slot> slots_;
};

struct Learned {
  uint64_t settings;
  std::unique_ptr<PythonModule> module;
  std::unique_ptr<Compiled> compiled;
};

/// Settings that change at each call are not learned over and over.
constexpr int kMostSettings = 8;

struct Plans {
  std::list<Learned> learned;  // the last used first
  int made = 0;
  bool busy = false;
  std::string why;
};

struct PyCompiled {
  PyObject_HEAD PyObject* module;  // whose attributes are watched
  PyObject* function;              // what a call of it does
  Plans* plans;
};
PyTypeObject compiled_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyObject* untraceable_error = nullptr;

PyCompiled& self_of(PyObject* object) { return *reinterpret_cast<PyCompiled*>(object); }

PyObject* call_plain(PyCompiled& self, PyObject* argument) { return checked(PyObject_CallOneArg(self.function, argument)); }

Tensor PythonModule::forward(const Tensor& x) {
  const WithLock lock;
  const Object argument = Object::take(checked(wrap(x)));
  Object result = Object::take(PyObject_CallOneArg(owner_.function, argument.get()));
  const bool traces = runtime::tracer() != nullptr;
  if (!result) {
    if (!traces || !untraceable_is_set()) throw_set();
    PyErr_Clear();
    throw runtime::Untraceable();
  }
  const Tensor y = is_tensor(result.get()) ? tensor_of(result.get()) : Tensor();
  if (!traces) given = std::move(result);
  return y;
}

/// While the plans are in use, a call from another thread, or from within, is the module's own.
class Busy {
 public:
  explicit Busy(Plans& plans) : plans_(plans) { plans_.busy = true; }
  ~Busy() { plans_.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Plans& plans_;
};

/// The plans for these settings; nullptr where the module is to be called itself.
Learned* plans_for(PyCompiled& self, const Looked& now) {
  Plans& plans = *self.plans;
  for (auto it = plans.learned.begin(); it != plans.learned.end(); ++it)
    if (it->settings == now.settings) {
      plans.learned.splice(plans.learned.begin(), plans.learned, it);
      return &plans.learned.front();
    }
  if (plans.made >= kMostSettings) {
    plans.why = "its attributes change from call to call";
    return nullptr;
  }
  ++plans.made;
  auto module = std::make_unique<PythonModule>(self);
  auto compiled = std::make_unique<Compiled>(*module);
  plans.learned.push_front({now.settings, std::move(module), std::move(compiled)});
  return &plans.learned.front();
}

PyObject* compiled_call(PyObject* object, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyCompiled& self = self_of(object);
    Plans& plans = *self.plans;
    if (PyTuple_GET_SIZE(args) != 1 || (keywords && PyDict_GET_SIZE(keywords) > 0) || !is_tensor(PyTuple_GET_ITEM(args, 0))) {
      plans.why = "it is not called with one tensor";
      return checked(PyObject_Call(self.function, args, keywords));
    }
    PyObject* const argument = PyTuple_GET_ITEM(args, 0);
    if (plans.busy || runtime::tracer()) return call_plain(self, argument);
    Looked now(self.module);
    if (now.has_hooks) {
      plans.why = "a module of it has hooks";
      return call_plain(self, argument);
    }
    Learned* const learned = plans_for(self, now);
    if (!learned) return call_plain(self, argument);
    const Object held = Object::share(object);
    const Busy busy(plans);
    const AtCaller site;
    learned->module->take(std::move(now.slots), now.training);
    const Tensor x = tensor_of(argument);
    Tensor y;
    {
      const WithoutLock unlocked;
      y = (*learned->compiled)(x, site);
    }
    plans.why.clear();
    Object own = std::exchange(learned->module->given, Object());
    if (own && (!y.defined() || (is_tensor(own.get()) && tensor_of(own.get()).is_same(y)))) return own.release();
    return wrap(std::move(y));
  });
}

PyObject* compiled_new(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *module, *function;
  if (!PyArg_ParseTuple(args, "OO:Compiled", &module, &function)) return nullptr;
  return guarded([&] {
    PyObject* const object = checked(type->tp_alloc(type, 0));
    self_of(object).module = Py_NewRef(module);
    self_of(object).function = Py_NewRef(function);
    self_of(object).plans = new Plans();
    return object;
  });
}
int compiled_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(self_of(object).module);
  Py_VISIT(self_of(object).function);
  return 0;
}
int compiled_clear(PyObject* object) {
  Py_CLEAR(self_of(object).module);
  Py_CLEAR(self_of(object).function);
  return 0;
}
void compiled_dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  compiled_clear(object);
  delete self_of(object).plans;
  Py_TYPE(object)->tp_free(object);
}

PyObject* compiled_why(PyObject* object, void*) {
  return guarded([&] {
    const Plans& plans = *self_of(object).plans;
    return from_text(!plans.why.empty() || plans.learned.empty() ? plans.why : plans.learned.front().compiled->why());
  });
}
PyObject* compiled_steps(PyObject* object, PyObject*) {
  return guarded([&] {
    const Plans& plans = *self_of(object).plans;
    return from_text(plans.learned.empty() ? std::string() : plans.learned.front().compiled->steps());
  });
}
PyObject* compiled_reset(PyObject* object, PyObject*) {
  return guarded([&] {
    Plans& plans = *self_of(object).plans;
    if (plans.busy) fail("reset: the module is being called");
    plans.learned.clear();
    plans.made = 0;
    Py_RETURN_NONE;
  });
}

PyMethodDef methods[] = {{"steps", compiled_steps, METH_NOARGS, "What the last call consisted of, a step a line."},
                         {"reset", compiled_reset, METH_NOARGS, "Forgets all that was learned."},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"why", compiled_why, nullptr, "Why the last call was the module's own; empty where it was not.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

void set_untraceable() { PyErr_SetString(untraceable_error, "what tandem.compile is learning needs a value that is not known yet"); }

bool untraceable_is_set() { return PyErr_ExceptionMatches(untraceable_error) != 0; }

bool add_compile(PyObject* module) {
  // No Exception: a program's `except Exception` is not to catch it.
  untraceable_error = PyErr_NewException("tandem._Untraceable", PyExc_BaseException, nullptr);
  compiled_type.tp_name = "tandem._C.Compiled";
  compiled_type.tp_doc = "Compiled(module, function): a module of tensor to tensor, whose forward is learned once for each size.";
  compiled_type.tp_basicsize = sizeof(PyCompiled);
  compiled_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  compiled_type.tp_new = compiled_new;
  compiled_type.tp_dealloc = compiled_dealloc;
  compiled_type.tp_traverse = compiled_traverse;
  compiled_type.tp_clear = compiled_clear;
  compiled_type.tp_call = compiled_call;
  compiled_type.tp_methods = methods;
  compiled_type.tp_getset = attributes;
  return untraceable_error && PyType_Ready(&compiled_type) == 0 &&
         PyModule_AddObjectRef(module, "Compiled", reinterpret_cast<PyObject*>(&compiled_type)) == 0;
}

}  // namespace tandem::python
