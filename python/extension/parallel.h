// One process's tensors on several GPUs: what tandem.nn.parallel is built on.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds _parallel. False after an error.
bool add_parallel(PyObject* module);

}  // namespace tandem::python
