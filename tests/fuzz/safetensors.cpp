#include "io/safetensors.h"

#include "fuzz.h"
#include "repair.h"

// All tensors, or one by name.
void fuzz::read(std::string_view bytes) {
  const std::vector<std::string> names = bytes.size() % 2 ? std::vector<std::string>{"a"} : std::vector<std::string>();
  (void)tandem::io::read_safetensors(file_of(bytes), tandem::cpu(), names);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_safetensors);
}
