// Archives, and the arrays in them.
#include "fuzz.h"
#include "io/npy.h"
#include "repair.h"

void fuzz::read(std::string_view bytes) { (void)tandem::io::load_npz(file_of(bytes)); }

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_zip);
}
