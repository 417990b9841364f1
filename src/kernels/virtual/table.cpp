// The virtual GPU's kernels are the CPU's, queued.
#include "kernels/table.h"

#include "kernels/virtual/queued.h"

namespace tandem::kernels {

const Table& virtual_table() {
  static const Table table = queued_table<cpu_table>();
  return table;
}

}  // namespace tandem::kernels
