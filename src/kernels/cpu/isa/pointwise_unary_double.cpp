// Functions of one number, in double.
#include "kernels/cpu/isa/tiles.h"

namespace tandem::kernels::cpu::TD_ISA {

void fill_unary_double(PointwiseFunctions& table) { add_rows<RowGroup::Functions, double>(table); }

}  // namespace tandem::kernels::cpu::TD_ISA
