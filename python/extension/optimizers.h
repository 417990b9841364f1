// Optimizers: the steps of C++ behind the classes of tandem.optim.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds optim_create to the module.
bool add_optimizers(PyObject* module);

}  // namespace tandem::python
