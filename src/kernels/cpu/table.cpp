// The CPU's table: every entry in its place.
#include "kernels/table.h"

#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"

namespace tandem::kernels {

const Table& cpu_table() {
  static constexpr Table table = {
#define TD_ENTRY(name, ...) .name = cpu::name,
#include "kernels/entries.def"
  };
  (void)cpu::isa();  // a wrong TANDEM_ISA is an error here: the entries throw nothing
  return table;
}

}  // namespace tandem::kernels
