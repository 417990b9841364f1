// Functions of one number, in float.
#include "kernels/cpu/isa/tiles.h"

namespace tandem::kernels::cpu::TD_ISA {

void fill_unary_float(PointwiseFunctions& table) { add_rows<RowGroup::Functions, float>(table); }

}  // namespace tandem::kernels::cpu::TD_ISA
