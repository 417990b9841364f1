#include "golden.h"

namespace golden {

void add_reductions(Table&) {}

}  // namespace golden
