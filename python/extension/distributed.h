// Collectives of the ranks of a program: what tandem.distributed is built on.
#pragma once

#include "python.h"

namespace tandem::python {

/// Of a handle, or of the package's group, which has one. None stands for all ranks.
distributed::ProcessGroup group_of(PyObject* object);

/// Adds _distributed. False after an error.
bool add_distributed(PyObject* module);

}  // namespace tandem::python
