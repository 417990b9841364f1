// tandem.onnx.export: models of Python as ONNX files.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds `_C._onnx_export`. False after an error.
bool add_onnx(PyObject* module);

}  // namespace tandem::python
