// Settings of the process and of the thread: default dtype and device, threads, printing, autocast, and what the package tells the
// extension.
#pragma once

#include "python.h"

namespace tandem::python {

bool add_settings(PyObject* module);

}  // namespace tandem::python
