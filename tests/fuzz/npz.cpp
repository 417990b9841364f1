// Archives, and the arrays in them.
#include "fuzz.h"
#include "io/list_formats.h"
#include "io/npy.h"
#include "repair.h"

// All arrays, or one by name; and the list of them.
void fuzz::read(std::string_view bytes) {
  const std::string& path = file_of(bytes);
  tandem::io::FileContents contents;
  const bool listed = succeeds([&] { contents = tandem::io::list_npz(path); });
  const std::vector<std::string> names = bytes.size() % 4 == 3 ? std::vector<std::string>{"a"} : std::vector<std::string>();
  const auto tensors = tandem::io::load_npz(path, tandem::cpu(), names);
  if (!names.empty()) return;
  expect(listed && tensors.size() <= contents.tensors.size(), "arrays are read that are not listed");
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_zip);
}
