#include "kernels/cuda/table.h"

#include "kernels/cuda/entries.h"
#include "kernels/cuda/vendor/vendor.h"
#include "kernels/missing.h"

namespace tandem::kernels::cuda {

const Table& table() {
  static const Table complete = [] {
    Table table = missing_table();
    fill_own(table);
    vendor::fill_vendor(table);
    return table;
  }();
  return complete;
}

}  // namespace tandem::kernels::cuda
