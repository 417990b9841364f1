// The one entry of libtandem_walked.so: a table in which our own CUDA kernels stand, walked on the host. What a GPU leaves to a library
// (sorting, decompositions) stays the CPU's.
#include "kernels/cuda/table.h"

#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {

const Table& table() {
  static const Table walked = [] {
    Table table = cpu_table();
    fill_own(table);
    return table;
  }();
  return walked;
}

}  // namespace tandem::kernels::cuda

extern "C" [[gnu::visibility("default")]] const tandem::kernels::Table* tandem_walked_table() { return &tandem::kernels::cuda::table(); }
