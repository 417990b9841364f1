// tandem::compile for modules of Python.
#pragma once

#include "python.h"

namespace tandem::python {

/// Sets the exception that carries the end of a trace through Python.
void set_untraceable();
/// Whether that exception is set.
bool untraceable_is_set();
/// Adds `_C.Compiled`, and the exception that ends a trace. False after an error.
bool add_compile(PyObject* module);

}  // namespace tandem::python
