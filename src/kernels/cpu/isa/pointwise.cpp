// All pointwise operations; here those of one operand that integers have too.
#include "kernels/cpu/isa/tiles.h"

namespace tandem::kernels::cpu::TD_ISA {

void fill_unary_float(PointwiseFunctions& table);
void fill_unary_double(PointwiseFunctions& table);
void fill_binary(PointwiseFunctions& table);
void fill_parameters(PointwiseFunctions& table);

void fill_pointwise(PointwiseFunctions& pointwise) {
  fill_unary_float(pointwise);
  fill_unary_double(pointwise);
  add_rows<RowGroup::Arithmetic, float, double, int64_t>(pointwise);
  fill_binary(pointwise);
  fill_parameters(pointwise);
}

}  // namespace tandem::kernels::cpu::TD_ISA
