// How ranks' elements become one.
#pragma once

#include <cstdint>

namespace tandem::comm {

/// How the ranks' elements become one. AVG is the sum divided by the number of ranks, for floating dtypes. Half types are added up in
/// float32 and rounded once. As torch.distributed.ReduceOp.
enum class ReduceOp : uint8_t { SUM, AVG, PRODUCT, MIN, MAX };

/// As "SUM".
[[nodiscard]] const char* name(ReduceOp op);

}  // namespace tandem::comm
