#include "golden.h"

namespace golden {

void add_shapes(Table&) {}

}  // namespace golden
