#include "classes.h"

namespace tandem::python {

bool ready(PyTypeObject& type, const ClassParts& parts) {
  type.tp_name = parts.name;
  type.tp_basicsize = static_cast<Py_ssize_t>(parts.size);
  type.tp_flags = parts.flags;
  type.tp_doc = parts.doc;
  type.tp_new = parts.make;
  type.tp_methods = parts.methods;
  type.tp_getset = parts.attributes;
  if (parts.deallocate) type.tp_dealloc = parts.deallocate;
  return PyType_Ready(&type) == 0;
}

}  // namespace tandem::python
