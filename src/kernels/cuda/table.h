// What the plug-in hands to the library.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels::cuda {

/// The table of the cards: every entry that has a kernel here; all others report a clear error.
const Table& table();

}  // namespace tandem::kernels::cuda
