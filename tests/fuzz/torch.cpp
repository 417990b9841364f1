// Files of torch.save's, of both formats, and bare pickles.
#include <algorithm>

#include "fuzz.h"
#include "io/torch_file.h"
#include "io/unpickle.h"
#include "repair.h"

namespace {

/// A pickle by itself: its value can be printed, and its tensors lie in their storages.
void read_pickle(std::string_view bytes) {
  namespace detail = tandem::io::detail;
  size_t next = 0;
  detail::Unpickler unpickler({.read =
                                   [&](void* to, size_t count) {
                                     std::copy_n(bytes.data() + next, count, static_cast<char*>(to));
                                     next += count;
                                   },
                               .bytes = bytes.size(),
                               .bad = [](const std::string& wrong) { tandem::fail(wrong); }},
                              uint64_t{64} << 20);
  const tandem::io::PlainValue value = unpickler.run();
  fuzz::expect(!tandem::str(value).empty(), "a value that prints as nothing");
  detail::each_tensor(value, [&](const std::string&, const tandem::io::PlainValue& tensor) {
    const detail::StoredTensor& stored = *detail::PlainAccess::node_of(tensor)->stored;
    int64_t last = stored.offset;
    for (size_t i = 0; i < stored.sizes.size(); ++i) {
      if (stored.sizes[i] == 0) return;
      last += (stored.sizes[i] - 1) * stored.strides[i];
    }
    fuzz::expect(last < unpickler.storages().at({stored.storage, stored.dtype}), "a tensor outside of its storage");
  });
}

}  // namespace

void fuzz::read(std::string_view bytes) {
  if (bytes.size() % 3 == 1 && !bytes.starts_with("PK")) return read_pickle(bytes);
  namespace io = tandem::io;
  const io::PlainValue value = io::read_torch(file_of(bytes));
  expect(!tandem::str(value).empty(), "a value that prints as nothing");
  for (const auto& [name, tensor] : io::tensors_of(value))
    if (tensor.dtype() != tandem::kBool && tensor.numel() < 1000) (void)tensor.sum();
  if (bytes.size() % 256 != 5) return;
  io::save_torch("fuzz_torch_saved.pt", value);
  expect(tandem::str(io::read_torch("fuzz_torch_saved.pt")) == tandem::str(value), "a value that is another one after saving");
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_zip);
}
