// Operations of two operands.
#include "kernels/cpu/isa/tiles.h"

namespace tandem::kernels::cpu::TD_ISA {

#define TD_ADD(name, Functor, rule, inputs, chosen)                                                                      \
  add_row<(chosen), Functor, Rule::rule, inputs, float, double, int64_t>(isa.tiles[static_cast<int>(PointwiseOp::name)], \
                                                                         isa.tiles_of_numbers[static_cast<int>(PointwiseOp::name)]);
#define TD_UNARY(name, Functor, rule, ...) TD_ADD(name, Functor, rule, 1, false)
#define TD_BINARY(name, Functor, rule, ...) TD_ADD(name, Functor, rule, 2, true)
#define TD_KERNEL(name, Functor, rule, inputs) TD_ADD(name, Functor, rule, inputs, false)

void add_binary(Isa& isa) {
#include "kernels/pointwise.def"
}

}  // namespace tandem::kernels::cpu::TD_ISA
