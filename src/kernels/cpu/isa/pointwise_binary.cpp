// Operations of two operands.
#include "kernels/cpu/isa/tiles.h"

namespace tandem::kernels::cpu::TD_ISA {

void fill_binary(PointwiseFunctions& table) { add_rows<RowGroup::Binary, float, double, int64_t>(table); }

}  // namespace tandem::kernels::cpu::TD_ISA
