// The CPU's kernels. table.cpp makes the table from them.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels::cpu {

#include "kernels/entries.inc"

}  // namespace tandem::kernels::cpu
