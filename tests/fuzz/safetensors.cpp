#include "io/safetensors.h"

#include "fuzz.h"
#include "repair.h"

void fuzz::read(std::string_view bytes) { (void)tandem::io::read_safetensors(file_of(bytes)); }

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_safetensors);
}
