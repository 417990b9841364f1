#include "golden.h"

namespace golden {

void add_losses(Table&) {}

}  // namespace golden
