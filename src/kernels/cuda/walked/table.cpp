// The one entry of libtandem_walked.so: a table in which our own CUDA kernels stand, walked on the host. What a card leaves to a library
// (sorting, decompositions) stays the CPU's.
#include "kernels/cuda/entries.h"

extern "C" [[gnu::visibility("default")]] const tandem::kernels::Table* tandem_walked_table() {
  static const tandem::kernels::Table table = [] {
    tandem::kernels::Table t = tandem::kernels::cpu_table();
    tandem::kernels::cuda::fill_own(t);
    return t;
  }();
  return &table;
}
