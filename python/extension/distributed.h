// Collectives of the ranks of a program: what tandem.distributed is built on.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds _distributed. False after an error.
bool add_distributed(PyObject* module);

}  // namespace tandem::python
