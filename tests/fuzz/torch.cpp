// Files of torch.save's, of both formats; and bare pickles, put into an archive.
#include "fuzz.h"
#include "io/file.h"
#include "io/torch_file.h"
#include "io/zip.h"
#include "repair.h"

// What is read can be printed, its tensors are where they say they are, and it comes back from a file of our own.
void fuzz::read(std::string_view bytes) {
  namespace io = tandem::io;
  const bool bare = bytes.size() % 3 == 1 && !bytes.starts_with("PK");
  std::string path = file_of(bytes);
  if (bare) {
    io::AtomicFile file("fuzz", "fuzz_torch.pt");
    io::ZipWriter zip(file, "fuzz", "fuzz_torch.pt");
    zip.add("archive/data.pkl", bytes, "");
    zip.add("archive/data/0", std::string(24, '\1'), "");
    zip.finish();
    file.commit();
    path = "fuzz_torch.pt";
  }
  const io::PlainValue value = io::read_torch(path);
  expect(!tandem::str(value).empty(), "a value that prints as nothing");
  for (const auto& [name, tensor] : io::tensors_of(value))
    if (tensor.dtype() != tandem::kBool && tensor.numel() < 1000) (void)tensor.sum();
  if (bytes.size() % 16 != 5) return;
  io::save_torch("fuzz_torch_saved.pt", value);
  const io::PlainValue again = io::read_torch("fuzz_torch_saved.pt");
  expect(tandem::str(again) == tandem::str(value), "a value that is another one after saving");
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_zip);
}
