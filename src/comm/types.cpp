#include "comm/types.h"

namespace tandem::comm {

const char* name(ReduceOp op) {
  constexpr const char* names[] = {"SUM", "AVG", "PRODUCT", "MIN", "MAX"};
  return names[static_cast<int>(op)];
}

}  // namespace tandem::comm
