// Classes that are written in C++.
#pragma once

#include "python.h"

namespace tandem::python {

/// What a class is made of; nothing for what it does not have.
struct ClassParts {
  const char* name;  // with its module
  size_t size;       // of an object
  destructor deallocate = nullptr;
  newfunc make = nullptr;  // without one, Python can't make objects of it
  PyMethodDef* methods = nullptr;
  PyGetSetDef* attributes = nullptr;
  const char* doc = nullptr;
  unsigned long flags = Py_TPFLAGS_DEFAULT;
};

/// Fills a type and makes it ready; what is set already, such as its repr, stays. False after an error.
bool ready(PyTypeObject& type, const ClassParts& parts);

}  // namespace tandem::python
