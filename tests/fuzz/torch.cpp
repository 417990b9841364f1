// Files of torch.save's, of both formats, and bare pickles.
#include <algorithm>

#include "fuzz.h"
#include "io/file.h"
#include "io/list_formats.h"
#include "io/torch_file.h"
#include "io/unpickle.h"
#include "repair.h"

namespace {

namespace io = tandem::io;

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
  const io::PlainValue value = unpickler.run();
  fuzz::expect(!tandem::str(value).empty(), "a value that prints as nothing");
  detail::each_tensor(value, [&](const std::string&, const io::PlainValue& tensor) {
    const detail::StoredTensor& stored = *detail::PlainAccess::node_of(tensor)->stored;
    int64_t last = stored.offset;
    for (size_t i = 0; i < stored.sizes.size(); ++i) {
      if (stored.sizes[i] == 0) return;
      last += (stored.sizes[i] - 1) * stored.strides[i];
    }
    fuzz::expect(last < unpickler.storages().at({stored.storage, stored.dtype}), "a tensor outside of its storage");
  });
}

/// Whether it begins as one of the two formats.
bool is_file(std::string_view bytes) {
  return bytes.starts_with("PK") || bytes.substr(0, 32).find("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") != std::string_view::npos;
}

/// What is listed is what is read, all of it or one tensor by its name.
void read_file(std::string_view bytes) {
  const std::string& path = fuzz::file_of(bytes);
  const io::FileContents contents = io::list_torch(path);
  fuzz::expect(io::is_torch_file(io::InputFile("fuzz", path)), "a file is listed that is not known as one");
  if (!contents.tensors.empty()) {
    const io::FileTensor& one = contents.tensors[bytes.size() % contents.tensors.size()];
    (void)fuzz::succeeds([&] {
      const io::TensorMap found = io::load_torch(path, tandem::cpu(), {one.name});
      fuzz::expect(found.size() == 1 && found.contains(one.name), "another tensor than the one that was asked for");
      const tandem::Tensor& tensor = found.at(one.name);
      fuzz::expect(tensor.dtype() == *one.dtype && tensor.sizes() == one.sizes, "a tensor that is another one than is listed");
    });
  }
  (void)fuzz::succeeds([&] { (void)io::load_torch(path, tandem::cpu(), {"model"}); });

  const io::PlainValue value = io::read_torch(path);
  fuzz::expect(!tandem::str(value).empty(), "a value that prints as nothing");
  const tandem::StateDict tensors = io::tensors_of(value);
  fuzz::expect(tensors.size() <= contents.tensors.size(), "more tensors are read than listed");
  for (const auto& [name, tensor] : tensors)
    if (tensor.dtype() != tandem::kBool && tensor.numel() < 1000) (void)tensor.sum();
  (void)fuzz::succeeds([&] { (void)value["model"]; });
  (void)fuzz::succeeds([&] { (void)value[0].to_tensor(); });
  if (bytes.size() % 256 != 5) return;
  static const std::string saved = fuzz::folder() / "saved.pt";
  io::save_torch(saved, value);
  fuzz::expect(tandem::str(io::read_torch(saved)) == tandem::str(value), "a value that is another one after saving");
}

}  // namespace

void fuzz::read(std::string_view bytes) {
  if (bytes.size() % 3 == 1 && !is_file(bytes)) return read_pickle(bytes);
  read_file(bytes);
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutate(data, size, most, seed, fuzz::repaired_zip);
}
