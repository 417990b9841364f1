// Exported programs: archives, the program in them, and the weights.
#include "exported/model.h"
#include "fuzz.h"
#include "repair.h"

void fuzz::read(std::string_view bytes) {
  const auto model = tandem::exported::load(file_of(bytes));
  for (const auto& input : model.inputs()) expect(input.sizes.size() <= 1000000, "an input of more dimensions than the file has bytes");
  for (const auto& [name, tensor] : model.state_dict())
    if (tensor.numel() < 1000) (void)tensor.clone();
  expect(!model.extra_repr().empty(), "a model that prints as nothing");
  (void)model.outputs();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_zip);
}
