// All tables of an instruction set, a fill function for each subject.
#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels::cpu::TD_ISA {

void fill_pointwise(PointwiseFunctions& pointwise);
void fill_conversions(ConversionFunctions& conversions);
void fill_reductions(ReductionFunctions& reductions);
void fill_random(RandomFunctions& random);
void fill_rows(RowFunctions (&rows)[2]);
void fill_optimizers(OptimizerFunctions (&optimizers)[2]);
void fill_recurrent(RecurrentFunctions (&recurrent)[2]);
void fill_products(ProductFunctions& products);
void fill_packed_products(ProductFunctions& products);
void fill_windows(WindowFunctions& windows);
void fill_images(ImageFunctions& images);
void fill_winograd(WinogradFunctions& winograd);
void fill_scans(ScanFunctions& scans);

Isa make_isa(const char* name) {
  Isa isa{};
  isa.name = name;
  fill_pointwise(isa.pointwise);
  fill_conversions(isa.conversions);
  fill_reductions(isa.reductions);
  fill_random(isa.random);
  fill_rows(isa.rows);
  fill_optimizers(isa.optimizers);
  fill_recurrent(isa.recurrent);
  fill_products(isa.products);
  fill_packed_products(isa.products);
  fill_windows(isa.windows);
  fill_images(isa.images);
  fill_winograd(isa.winograd);
  fill_scans(isa.scans);
  return isa;
}

}  // namespace tandem::kernels::cpu::TD_ISA
