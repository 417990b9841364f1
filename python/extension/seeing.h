// What tandem tells about copies, waits, races, time and memory: tandem.ledger, races, profiler, smi.
#pragma once

#include "python.h"

namespace tandem::python {

bool add_seeing(PyObject* module);

}  // namespace tandem::python
