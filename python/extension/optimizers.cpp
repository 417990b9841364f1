#include "optimizers.h"

#include <memory>
#include <string>

#include "bindings.h"

namespace tandem::python {
namespace {

using optim::detail::Visitor;

/// Takes the values of a dictionary over into options or state, and counts the names that it found.
class FromDict final : public Visitor {
 public:
  explicit FromDict(PyObject* dict) : dict_(dict) {}
  void operator()(std::string_view name, double& number) override {
    if (PyObject* const value = find(name)) number = to_double(value);
  }
  void operator()(std::string_view name, int64_t& number) override {
    if (PyObject* const value = find(name))
      number = is_tensor(value) || !PyFloat_Check(value) ? to_int(value) : static_cast<int64_t>(to_double(value));
  }
  void operator()(std::string_view name, bool& flag) override {
    if (PyObject* const value = find(name)) flag = to_bool(value);
  }
  void operator()(std::string_view name, std::pair<double, double>& numbers) override {
    PyObject* const value = find(name);
    if (!value) return;
    const Object list = Object::take(checked(PySequence_Fast(value, "expected two numbers")));
    if (PySequence_Fast_GET_SIZE(list.get()) != 2) fail<ValueError>(name, " takes two numbers");
    numbers = {to_double(PySequence_Fast_GET_ITEM(list.get(), 0)), to_double(PySequence_Fast_GET_ITEM(list.get(), 1))};
  }
  void operator()(std::string_view name, Tensor& tensor) override {
    PyObject* const value = find(name);
    tensor = given(value) ? checked_tensor(value) : Tensor();
  }
  [[nodiscard]] Py_ssize_t found() const { return found_; }

 private:
  PyObject* find(std::string_view name) {
    const Object key = Object::take(checked(from_text(name)));
    PyObject* const value = PyDict_GetItemWithError(dict_, key.get());
    if (!value && PyErr_Occurred()) throw ErrorIsSet();
    found_ += value != nullptr;
    return given(value) ? value : nullptr;
  }
  PyObject* dict_;
  Py_ssize_t found_ = 0;
};

/// Options or state as a dictionary. Tensors share their memory.
class ToDict final : public Visitor {
 public:
  explicit ToDict(PyObject* dict) : dict_(dict) {}
  void operator()(std::string_view name, double& number) override { put(name, PyFloat_FromDouble(number)); }
  void operator()(std::string_view name, int64_t& number) override { put(name, PyLong_FromLongLong(number)); }
  void operator()(std::string_view name, bool& flag) override { put(name, PyBool_FromLong(flag)); }
  void operator()(std::string_view name, std::pair<double, double>& numbers) override {
    put(name, Py_BuildValue("(dd)", numbers.first, numbers.second));
  }
  void operator()(std::string_view name, Tensor& tensor) override {
    if (!tensor.defined()) return;
    any_ = true;
    put(name, wrap(tensor));
  }
  /// Whether there was a tensor: without one no step has made the state.
  [[nodiscard]] bool any() const { return any_; }

 private:
  void put(std::string_view name, PyObject* owned) {
    const Object value = Object::take(checked(owned)), key = Object::take(checked(from_text(name)));
    if (PyDict_SetItem(dict_, key.get(), value.get()) != 0) throw ErrorIsSet();
  }
  PyObject* dict_;
  bool any_ = false;
};

/// One of the library's optimizers, by its class.
struct Maker {
  const char* name;
  std::unique_ptr<optim::Optimizer> (*make)(std::vector<Tensor> params, PyObject* options, Site site);
  void (*add)(optim::Optimizer& optimizer, std::vector<Tensor> params, PyObject* options, Site site);
};

/// The first name in the dictionary that the options do not have.
template <class Options>
std::string unknown_option(Options& options, PyObject* dict) {
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);) {
    const Object one = Object::take(checked(PyDict_New()));
    if (PyDict_SetItem(one.get(), key, value) != 0) throw ErrorIsSet();
    FromDict alone(one.get());
    options.each(alone);
    if (alone.found() == 0) return std::string(to_text(key));
  }
  return "";
}

template <class O>
typename O::Options options_from(PyObject* dict) {
  typename O::Options options;
  FromDict visitor(dict);
  options.each(visitor);
  if (visitor.found() < PyDict_GET_SIZE(dict)) fail<TypeError>("the optimizer has no such option: ", unknown_option(options, dict));
  return options;
}

template <class O>
Maker maker(const char* name) {
  Maker row{name, nullptr, nullptr};
  row.make = [](std::vector<Tensor> params, PyObject* options, Site site) {
    return std::unique_ptr<optim::Optimizer>(new O(std::move(params), options_from<O>(options), site));
  };
  if constexpr (!std::is_same_v<O, optim::LBFGS>)
    row.add = [](optim::Optimizer& optimizer, std::vector<Tensor> params, PyObject* options, Site site) {
      static_cast<O&>(optimizer).add_param_group(std::move(params), options_from<O>(options), site);
    };
  return row;
}

const Maker makers[] = {maker<optim::SGD>("SGD"),         maker<optim::Adam>("Adam"),         maker<optim::AdamW>("AdamW"),
                        maker<optim::Adamax>("Adamax"),   maker<optim::NAdam>("NAdam"),       maker<optim::RAdam>("RAdam"),
                        maker<optim::Adagrad>("Adagrad"), maker<optim::Adadelta>("Adadelta"), maker<optim::RMSprop>("RMSprop"),
                        maker<optim::Rprop>("Rprop"),     maker<optim::ASGD>("ASGD"),         maker<optim::LBFGS>("LBFGS")};

struct PyOptimizer {
  PyObject_HEAD optim::Optimizer* value;  // owned
  const Maker* maker;
};
PyTypeObject optimizer_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyOptimizer& self_of(PyObject* object) { return *reinterpret_cast<PyOptimizer*>(object); }

void deallocate(PyObject* object) {
  delete self_of(object).value;
  PyObject_Free(object);
}

PyObject* create(PyObject*, PyObject* args) {
  const char* name;
  PyObject *params, *options;
  if (!PyArg_ParseTuple(args, "sOO!", &name, &params, &PyDict_Type, &options)) return nullptr;
  return guarded([&]() -> PyObject* {
    const AtCaller site;
    for (const Maker& row : makers) {
      if (std::string_view(row.name) != name) continue;
      std::unique_ptr<optim::Optimizer> made = row.make(to_tensors(params), options, site);
      auto* object = PyObject_New(PyOptimizer, &optimizer_type);
      if (!object) throw ErrorIsSet();
      object->value = made.release();
      object->maker = &row;
      return reinterpret_cast<PyObject*>(object);
    }
    fail<ValueError>("there is no optimizer '", name, '\'');
  });
}
PyObject* add_group(PyObject* self, PyObject* args) {
  PyObject *params, *options;
  if (!PyArg_ParseTuple(args, "OO!", &params, &PyDict_Type, &options)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    if (!self_of(self).maker->add) fail<ValueError>("LBFGS doesn't support per-parameter options (parameter groups)");
    self_of(self).maker->add(*self_of(self).value, to_tensors(params), options, site);
    Py_RETURN_NONE;
  });
}
PyObject* set_options(PyObject* self, PyObject* args) {
  Py_ssize_t group;
  PyObject* options;
  if (!PyArg_ParseTuple(args, "nO!", &group, &PyDict_Type, &options)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    FromDict visitor(options);
    self_of(self).value->each_option(static_cast<size_t>(group), visitor);
    Py_RETURN_NONE;
  });
}
PyObject* step(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    const AtCaller site;
    PyObject* const closure = only_argument(args, count, names);
    optim::Optimizer& optimizer = *self_of(self).value;
    if (given(closure) && std::string_view(optimizer.name()) == "LBFGS") {
      const auto loss = [closure] {
        const Object result = Object::take(PyObject_CallNoArgs(closure));
        if (!result) throw_set();
        if (!is_tensor(result.get()))
          fail<TypeError>("the closure of LBFGS gives the loss, a tensor, not ", Py_TYPE(result.get())->tp_name);
        return tensor_of(result.get());
      };
      return wrap(static_cast<optim::LBFGS&>(optimizer).step(loss, site));
    }
    {
      const WithoutLock unlocked;
      optimizer.step(site);
    }
    Py_RETURN_NONE;
  });
}
PyObject* zero_grad(PyObject* self, PyObject* set_to_none) {
  return guarded([&] {
    self_of(self).value->zero_grad(to_bool(set_to_none), AtCaller());
    Py_RETURN_NONE;
  });
}
PyObject* state(PyObject* self, PyObject* args) {
  Py_ssize_t group, parameter;
  if (!PyArg_ParseTuple(args, "nn", &group, &parameter)) return nullptr;
  return guarded([&]() -> PyObject* {
    const AtCaller site;
    Object dict = Object::take(checked(PyDict_New()));
    ToDict visitor(dict.get());
    self_of(self).value->each_state(static_cast<size_t>(group), static_cast<size_t>(parameter), visitor);
    if (!visitor.any()) PyDict_Clear(dict.get());
    return dict.release();
  });
}
PyObject* set_state(PyObject* self, PyObject* args) {
  Py_ssize_t group, parameter;
  PyObject* dict;
  if (!PyArg_ParseTuple(args, "nnO!", &group, &parameter, &PyDict_Type, &dict)) return nullptr;
  return guarded([&] {
    const AtCaller site;
    FromDict visitor(dict);
    self_of(self).value->each_state(static_cast<size_t>(group), static_cast<size_t>(parameter), visitor);
    Py_RETURN_NONE;
  });
}
PyMethodDef methods[] = {
    {"add_group", add_group, METH_VARARGS, "add_group(params, options)"},
    {"set_options", set_options, METH_VARARGS, "set_options(group, options)"},
    fast("step", step, "step(closure=None)"),
    {"zero_grad", zero_grad, METH_O, "zero_grad(set_to_none)"},
    {"state", state, METH_VARARGS, "state(group, parameter): its tensors and numbers by name; {} before the first step."},
    {"set_state", set_state, METH_VARARGS, "set_state(group, parameter, state)"},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef functions[] = {{"optim_create", create, METH_VARARGS, "optim_create(name, params, options): an optimizer with one group."},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_optimizers(PyObject* module) {
  optimizer_type.tp_name = "tandem._C.Optimizer";
  optimizer_type.tp_basicsize = sizeof(PyOptimizer);
  optimizer_type.tp_flags = Py_TPFLAGS_DEFAULT;
  optimizer_type.tp_dealloc = deallocate;
  optimizer_type.tp_methods = methods;
  return PyType_Ready(&optimizer_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace tandem::python
