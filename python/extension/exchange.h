// Memory that is shared with other libraries in the process.
#pragma once

#include "python.h"

namespace tandem::python {

/// Tells add_to of __dlpack__ and __dlpack_device__.
void register_exchange_methods();
bool add_exchange(PyObject* module);

}  // namespace tandem::python
