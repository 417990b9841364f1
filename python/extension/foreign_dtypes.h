// The dtypes of PyTorch's that no tensor here has: objects that programs name, compare and ask for their size.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds complex64, uint16, float8_e4m3fn and the others to the module, which has its dtypes already. False after an error.
bool add_foreign_dtypes(PyObject* module);

}  // namespace tandem::python
