// tandem._C: what the package `tandem` is built on. No user imports it.
#include "autograd.h"
#include "bindings.h"
#include "compile.h"
#include "data.h"
#include "devices.h"
#include "distributed.h"
#include "exchange.h"
#include "foreign_dtypes.h"
#include "methods.h"
#include "onnx.h"
#include "operators.h"
#include "optimizers.h"
#include "parallel.h"
#include "reductions.h"
#include "seeing.h"
#include "settings.h"
#include "sharing.h"
#include "waits.h"
#include "writers.h"

namespace tandem::python {
namespace {

PyMethodDef no_functions[] = {{nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "tandem._C",
                          "tandem's C++ library for the package tandem.",
                          -1,
                          no_functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

/// tandem.Tensor(data), or a tensor of sizes, as old programs write it: the package says what that is.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    const Object package = Object::take(checked(PyImport_ImportModule("tandem._tensor")));
    const Object make = Object::take(checked(PyObject_GetAttrString(package.get(), "new_tensor")));
    Object all = Object::take(checked(PyTuple_New(PyTuple_GET_SIZE(args) + 1)));
    PyTuple_SET_ITEM(all.get(), 0, Py_NewRef(reinterpret_cast<PyObject*>(type)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) PyTuple_SET_ITEM(all.get(), i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    return checked(PyObject_Call(make.get(), all.get(), keywords));
  });
}

/// Functions by hand come first, and are not replaced by generated ones of their name.
bool add_tensor(PyObject* module) {
  std::vector<PyMethodDef>& methods = functions_of(Place::Method);
  methods.push_back(tensor_life_method());
  methods.push_back({nullptr, nullptr, 0, nullptr});
  prepare_tensor_type();
  add_operators(tensor_type);
  add_indexing(tensor_type);
  add_buffer(tensor_type);
  add_attributes(tensor_type);
  tensor_type.tp_new = tensor_new;
  tensor_type.tp_methods = methods.data();
  return PyType_Ready(&tensor_type) == 0 && PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(&tensor_type)) == 0;
}

bool add_functions(PyObject* module) {
  std::vector<PyMethodDef>& functions = functions_of(Place::Function);
  functions.push_back({nullptr, nullptr, 0, nullptr});
  if (PyModule_AddFunctions(module, functions.data()) != 0) return false;
  std::vector<PyMethodDef>& linalg = functions_of(Place::Linalg);
  const Object table = Object::take(PyDict_New());
  const Object name = Object::take(PyUnicode_FromString("tandem.linalg"));
  if (!table || !name) return false;
  for (PyMethodDef& function : linalg) {
    const Object object = Object::take(PyCFunction_NewEx(&function, nullptr, name.get()));
    if (!object || PyDict_SetItemString(table.get(), function.ml_name, object.get()) != 0) return false;
  }
  return PyModule_AddObjectRef(module, "_linalg", table.get()) == 0;
}

bool fill(PyObject* module) {
  register_methods();
  register_autograd_methods();
  register_exchange_methods();
  register_device_methods();
  register_reductions();
  register_operations();
  return add_values(module) && add_foreign_dtypes(module) && add_errors(module) && add_tensor(module) && add_functions(module) &&
         add_generator(module) && add_data(module) && add_exchange(module) && add_autograd(module) && add_settings(module) &&
         add_devices(module) && add_optimizers(module) && add_seeing(module) && add_distributed(module) && add_sharing(module) &&
         add_parallel(module) && add_compile(module) && add_onnx(module) && add_writers(module);
}

}  // namespace
}  // namespace tandem::python

PyMODINIT_FUNC PyInit__C() {
  PyObject* const module = PyModule_Create(&tandem::python::definition);
  if (!module) return nullptr;
  const auto filled = tandem::python::guarded([&]() -> PyObject* {
    if (!tandem::python::fill(module)) throw tandem::python::ErrorIsSet();
    tandem::python::hook_waits();
    Py_RETURN_NONE;
  });
  if (!filled) {
    Py_DECREF(module);
    return nullptr;
  }
  Py_DECREF(filled);
  return module;
}
