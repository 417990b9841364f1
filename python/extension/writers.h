// Files of a run: event files for TensorBoard, and pictures.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds `_C.SummaryWriter`, `_C.read_image`, `_C.decode_image` and `_C.encode_png`. False after an error.
bool add_writers(PyObject* module);

}  // namespace tandem::python
