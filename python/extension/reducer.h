// What averages gradients over the ranks of a program: DistributedDataParallel is built on it.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds the class Reducer to a module. False after an error.
bool add_reducer(PyObject* module);

}  // namespace tandem::python
