// Operations called by hand, with parameters as operands.
#include "kernels/cpu/isa/tiles.h"

namespace tandem::kernels::cpu::TD_ISA {

void fill_parameters(PointwiseFunctions& table) { add_rows<RowGroup::Parameters, float, double, int64_t>(table); }

}  // namespace tandem::kernels::cpu::TD_ISA
