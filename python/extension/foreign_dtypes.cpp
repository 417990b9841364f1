#include "foreign_dtypes.h"

#include <string>

#include "bindings.h"
#include "errors.h"
#include "values.h"

namespace tandem::python {
namespace {

struct Facts {
  const char* name;
  int bytes;
  bool floating = false, complex = false, has_sign = false;
};
constexpr Facts kFacts[] = {
    {"complex32", 4, false, true, true},
    {"complex64", 8, false, true, true},
    {"complex128", 16, false, true, true},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float8_e4m3fn", 1, true, false, true},
    {"float8_e4m3fnuz", 1, true, false, true},
    {"float8_e5m2", 1, true, false, true},
    {"float8_e5m2fnuz", 1, true, false, true},
    {"float8_e8m0fnu", 1, true, false, false},
};

/// Begins as the objects of dtype_type do, whose value is one of no tensor's.
struct ForeignDType {
  PyObject_HEAD int value;
  const Facts* facts;
};
const Facts& facts_of(PyObject* self) { return *reinterpret_cast<ForeignDType*>(self)->facts; }

PyTypeObject foreign_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyObject* repr(PyObject* self) { return from_text(std::string(module_prefix()) + facts_of(self).name); }
PyObject* is_floating(PyObject* self, void*) { return PyBool_FromLong(facts_of(self).floating); }
PyObject* is_complex(PyObject* self, void*) { return PyBool_FromLong(facts_of(self).complex); }
PyObject* is_signed(PyObject* self, void*) { return PyBool_FromLong(facts_of(self).has_sign); }
PyObject* itemsize(PyObject* self, void*) { return PyLong_FromLong(facts_of(self).bytes); }
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Object module = Object::take(checked(PyImport_ImportModule("tandem")));
    const Object get = Object::take(checked(PyObject_GetAttrString(module.get(), "_dtype_by_name")));
    return Py_BuildValue("O(s)", get.get(), facts_of(self).name);
  });
}
PyGetSetDef attributes[] = {{"is_floating_point", is_floating, nullptr, "Whether its elements are floating numbers.", nullptr},
                            {"is_complex", is_complex, nullptr, "Whether its elements are complex numbers.", nullptr},
                            {"is_signed", is_signed, nullptr, "Whether it has negative numbers.", nullptr},
                            {"itemsize", itemsize, nullptr, "Bytes of an element.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_foreign_dtypes(PyObject* module) {
  foreign_type.tp_name = "tandem.dtype";
  foreign_type.tp_doc = "A dtype that no tensor has.";
  foreign_type.tp_base = &dtype_type;
  foreign_type.tp_basicsize = sizeof(ForeignDType);
  foreign_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  foreign_type.tp_repr = repr;
  foreign_type.tp_getset = attributes;
  foreign_type.tp_methods = methods;
  if (PyType_Ready(&foreign_type) < 0) return false;
  for (const Facts& facts : kFacts) {
    auto* object = PyObject_New(ForeignDType, &foreign_type);
    if (!object) return false;
    object->value = -1;
    object->facts = &facts;
    const Object held = Object::take(reinterpret_cast<PyObject*>(object));
    if (PyModule_AddObjectRef(module, facts.name, held.get()) != 0) return false;
  }
  return PyModule_AddObjectRef(module, "_foreign_dtype", reinterpret_cast<PyObject*>(&foreign_type)) == 0;
}

}  // namespace tandem::python
