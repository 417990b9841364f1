// Flat memory that is divided among the ranks of a program: FullyShardedDataParallel and fully_shard are built on it.
#pragma once

#include "python.h"

namespace tandem::python {

/// Adds the class FlatShards to a module. False after an error.
bool add_shards(PyObject* module);

}  // namespace tandem::python
