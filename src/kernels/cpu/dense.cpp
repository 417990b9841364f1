// The table of dense loops for the instruction set that isa() has chosen.
#include "kernels/cpu/isa/dense.h"

#include <cstring>

namespace tandem::kernels::cpu {

// TD_FOR_EACH_ISA(X) is X(set) for each set that is built: cmake/library.cmake defines it.
#define TD_DECLARE(set)              \
  namespace set {                    \
  void add_random(Dense& dense);     \
  void add_rows(Dense& dense);       \
  void add_optimizers(Dense& dense); \
  void add_products(Dense& dense);   \
  void add_windows(Dense& dense);    \
  }
TD_FOR_EACH_ISA(TD_DECLARE)
#undef TD_DECLARE

namespace {

Dense make() {
  Dense table{};
#define TD_ADD(set)                         \
  if (std::strcmp(isa().name, #set) == 0) { \
    set::add_random(table);                 \
    set::add_rows(table);                   \
    set::add_optimizers(table);             \
    set::add_products(table);               \
    set::add_windows(table);                \
  }
  TD_FOR_EACH_ISA(TD_ADD)
#undef TD_ADD
  return table;
}

}  // namespace

const Dense& dense() {
  static const Dense table = make();
  return table;
}

}  // namespace tandem::kernels::cpu
