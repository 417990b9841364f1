// GPUs: devices, streams, events, memory. tandem.cuda.
#pragma once

#include "python.h"

namespace tandem::python {

bool add_devices(PyObject* module);
/// Tells add_to of record_stream.
void register_device_methods();

}  // namespace tandem::python
