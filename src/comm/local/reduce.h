// The arithmetic of reductions on the host: several ranks' elements into one.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "comm/types.h"

namespace tandem::comm {

/// out[i] = inputs[0][i] op inputs[1][i] op …, in that order. `out` may be one of the inputs. Half types are computed in float32 and
/// rounded once. SUM, PRODUCT of bool are or, and.
void reduce_elements(void* out, const void* const* inputs, int count_of_inputs, int64_t count, DType dtype, ReduceOp op);

}  // namespace tandem::comm
