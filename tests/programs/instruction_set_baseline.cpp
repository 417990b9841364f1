// env: TANDEM_ISA=baseline TANDEM_VIRTUAL_GPUS=1
// TANDEM_ISA chooses the instruction set that a program begins with.
#include <tandem/tandem.h>

#include <string_view>

#include "check.h"
#include "kernels/cpu/isa/isa.h"

namespace td = tandem;

int main() {
  for (const td::Device device : {td::cpu(), td::gpu(0)}) CHECK((td::ones({100}, device) + 1).sum().item<float>() == 200);
  CHECK(td::kernels::cpu::isa().name == std::string_view("baseline"));
  return finish();
}
