// env: TANDEM_ISA=avx3 TANDEM_VIRTUAL_GPUS=1
// A TANDEM_ISA that is none is an error of each operation, on every device, and nothing worse.
#include <tandem/tandem.h>

#include "check.h"

namespace td = tandem;

int main() {
  for (const td::Device device : {td::cpu(), td::gpu(0), td::cpu()})
    CHECK_ERROR(td::ones({100}, device), td::Error, "TANDEM_ISA='avx3' is no instruction set: this library has baseline");
  return finish();
}
