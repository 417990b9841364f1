// The CUDA kernels as a table: what the plug-in hands to the library, and in libtandem_walked.so what virtual GPUs run.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels::cuda {

/// Every entry that has a kernel here. All others report a clear error on a GPU, and are the CPU's where kernels are walked.
const Table& table();

}  // namespace tandem::kernels::cuda
