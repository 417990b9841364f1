// Archives, and the arrays in them.
#include "fuzz.h"
#include "io/npy.h"
#include "repair.h"

// All arrays, or one by name.
void fuzz::read(std::string_view bytes) {
  const std::vector<std::string> names = bytes.size() % 4 == 3 ? std::vector<std::string>{"a"} : std::vector<std::string>();
  (void)tandem::io::load_npz(file_of(bytes), tandem::cpu(), names);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_zip);
}
