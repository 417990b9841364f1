#include "golden.h"

namespace golden {

void add_creation(Table& table) {
  table.add("full(size: ints, fill_value, *, dtype=None)",
            [](Call& c) { return full(c.ints("size"), c.number("fill_value"), c.options()); });
}

}  // namespace golden
