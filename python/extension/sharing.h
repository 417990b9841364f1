// Tensors on their way between processes: what Python's multiprocessing pickles of them.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds _pack_tensor and _unpack_tensor. False after an error.
bool add_sharing(PyObject* module);

}  // namespace tandem::python
