// Operations of one operand that integers have too: signs, rounding, tests.
#include "kernels/cpu/isa/tiles.h"

namespace tandem::kernels::cpu::TD_ISA {

#define TD_ADD(name, Functor, rule, inputs, chosen)                                                                      \
  add_row<(chosen), Functor, Rule::rule, inputs, float, double, int64_t>(isa.tiles[static_cast<int>(PointwiseOp::name)], \
                                                                         isa.tiles_of_numbers[static_cast<int>(PointwiseOp::name)]);
#define TD_UNARY(name, Functor, rule, ...) TD_ADD(name, Functor, rule, 1, !of_floats(Rule::rule))
#define TD_BINARY(name, Functor, rule, ...) TD_ADD(name, Functor, rule, 2, false)
#define TD_KERNEL(name, Functor, rule, inputs) TD_ADD(name, Functor, rule, inputs, inputs == 1 && !of_floats(Rule::rule))

void add_arithmetic(Isa& isa) {
#include "kernels/pointwise.def"
}

}  // namespace tandem::kernels::cpu::TD_ISA
