// Two formats. Since PyTorch 1.6, an archive: NAME/data.pkl, a pickle that refers to storages by keys, and NAME/data/KEY, their bytes.
// Before: a magic number, a version, what machine it was, the value, and the keys of its storages, each a pickle; then the storages in the
// order of the keys, each a count of elements and its bytes. As torch/serialization.py describes them.
#include "io/torch_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/file.h"
#include "io/file_kind.h"
#include "io/list_formats.h"
#include "io/named.h"
#include "io/unpickle.h"
#include "io/zip.h"
#include "ops/creation.h"
#include "ops/view.h"

namespace tandem::io {
namespace {

using detail::PickleSource;
using detail::PlainAccess;
using detail::PlainNode;
using detail::Storages;
using detail::StoredTensor;
using detail::Unpickler;
using Kind = PlainValue::Kind;

constexpr std::string_view kWanted = "a file of torch.save's";
constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";  // the number of the older format, as pickle has it
constexpr int64_t kOldVersion = 1001;

/// What values may take: a small file may be all numbers, each of which takes more here than there.
uint64_t most_memory(const InputFile& file) { return (uint64_t{64} << 20) + 32 * file.size(); }

/// Where a storage's bytes are: in the file, or in an archive's entry.
struct Place {
  uint64_t begin = 0, bytes = 0;
  const ZipEntry* packed = nullptr;
};

/// A file whose value is read, and whose storages can be.
struct TorchFile {
  explicit TorchFile(const std::string& path);

  InputFile file;
  std::vector<ZipEntry> entries;
  PlainValue value;
  Storages storages;
  std::map<std::string, Place> places;  // of the storages, by key
  bool big_endian = false;
};

/// The bytes of an archive's entry. Those that are only stored are taken as they are: torch.save can be told to leave out checksums.
void read_entry(const InputFile& file, const ZipEntry& entry, void* to, size_t bytes) {
  if (!entry.deflated) return file.read(to, bytes, entry.begin);
  ZipEntryReader reader(file, entry);
  reader.read(to, bytes);
  reader.finish();
}

std::string read_entry(const InputFile& file, const ZipEntry& entry) {
  std::string bytes(entry.size, '\0');
  if (!bytes.empty()) read_entry(file, entry, bytes.data(), bytes.size());
  return bytes;
}

void read_archive(TorchFile& content) {
  const InputFile& file = content.file;
  content.entries = read_zip_directory(file);
  const ZipEntry* pickle = nullptr;
  std::map<std::string_view, const ZipEntry*> named;
  constexpr std::string_view kPickle = "data.pkl";
  for (const ZipEntry& entry : content.entries) {
    named[entry.name] = &entry;
    if (entry.name != kPickle && !entry.name.ends_with("/data.pkl")) continue;
    if (pickle) file.bad("has two pickles, ", in_quotes(pickle->name), " and ", in_quotes(entry.name));
    pickle = &entry;
  }
  if (!pickle) {
    const std::string mistaken = mistaken_for(kWanted, file);
    file.bad(mistaken.empty() ? str("not ", kWanted, ": the archive has no data.pkl") : mistaken);
  }
  const std::string folder = pickle->name.substr(0, pickle->name.size() - kPickle.size());
  if (const auto order = named.find(folder + "byteorder"); order != named.end())
    content.big_endian = order->second->size == 3 && read_entry(file, *order->second) == "big";

  const std::string bytes = read_entry(file, *pickle);
  size_t next = 0;
  Unpickler unpickler({.read =
                           [&](void* to, size_t count) {
                             std::copy_n(bytes.data() + next, count, static_cast<char*>(to));
                             next += count;
                           },
                       .bytes = bytes.size(),
                       .bad = [&](const std::string& wrong) { file.bad(wrong); }},
                      most_memory(file));
  content.value = unpickler.run();
  content.storages = unpickler.storages();
  for (const auto& [key, storage] : content.storages) {
    const auto entry = named.find(folder + "data/" + key.first);
    if (entry == named.end()) file.bad("refers to the storage ", in_quotes(key.first), ", which the archive does not have");
    content.places[key.first] = {
        .begin = entry->second->begin, .bytes = entry->second->size, .packed = entry->second->deflated ? entry->second : nullptr};
  }
}

/// Where the number ends that files of the older format begin with; nothing where the file does not.
std::optional<uint64_t> after_magic(const InputFile& file) {
  constexpr uint64_t kMost = 32;
  const std::string start = file.read(std::min(file.size(), kMost), 0);
  const size_t at = start.find(kMagic);
  if (start.empty() || start[0] != '\x80' || at == std::string::npos) return std::nullopt;
  const size_t end = start.find('.', at + kMagic.size());
  if (end == std::string::npos) return std::nullopt;
  return end + 1;
}

void read_old(TorchFile& content, uint64_t begin) {
  const InputFile& file = content.file;
  uint64_t next = begin;
  Unpickler unpickler({.read =
                           [&](void* to, size_t count) {
                             file.read(to, count, next);
                             next += count;
                           },
                       .bytes = file.size() - begin,
                       .bad = [&](const std::string& wrong) { file.bad(wrong); }},
                      most_memory(file));
  const PlainValue version = unpickler.run();
  if (version.kind() != Kind::Integer || version.to_int() != kOldVersion)
    file.bad("is of version ", version, " of the older format; ", kOldVersion, " is read");
  const PlainValue machine = unpickler.run();
  if (const PlainValue* little = machine.find("little_endian")) content.big_endian = little->kind() == Kind::Bool && !little->to_bool();
  content.value = unpickler.run();
  const PlainValue keys = unpickler.run();
  if (keys.kind() != Kind::List) file.bad("does not list its storages");
  content.storages = unpickler.storages();
  uint64_t at = begin + unpickler.position();
  for (const PlainValue& item : keys.items()) {
    const std::string key = item.kind() == Kind::Text ? item.to_text() : str(item);
    const auto storage = content.storages.lower_bound({key, DType{}});
    if (storage == content.storages.end() || storage->first.first != key)
      file.bad("lists the storage ", in_quotes(key), ", of which no tensor is a part");
    uint64_t numel = 0;
    if (file.size() - at < sizeof numel) file.bad("is cut off before the storage ", in_quotes(key));
    file.read(&numel, sizeof numel, at);
    if (content.big_endian) numel = __builtin_bswap64(numel);
    at += sizeof numel;
    const uint64_t width = size_of(storage->first.second);
    if (numel != static_cast<uint64_t>(storage->second) || numel > (file.size() - at) / width)
      file.bad("the storage ", in_quotes(key), " is to have ", storage->second, " elements, but has ", numel, " in ", file.size() - at,
               " bytes (truncated?)");
    content.places[key] = {.begin = at, .bytes = numel * width};
    at += numel * width;
  }
  for (const auto& [key, storage] : content.storages)
    if (!content.places.contains(key.first)) file.bad("refers to the storage ", in_quotes(key.first), ", which the file does not have");
}

void read_value(TorchFile& content) {
  const InputFile& file = content.file;
  if (const auto begin = after_magic(file)) {
    read_old(content, *begin);
  } else if (file.read(std::min<uint64_t>(file.size(), 2), 0) == "PK") {
    read_archive(content);
  } else {
    const std::string mistaken = mistaken_for(kWanted, file);
    file.bad(mistaken.empty() ? str("not ", kWanted) : mistaken);
  }
}

TorchFile::TorchFile(const std::string& path) : file("load_torch", path) { read_value(*this); }

/// Reads storages when a tensor wants them, each once.
class StorageReader {
 public:
  StorageReader(const TorchFile& content, Device device, Site site) : content_(content), device_(device), site_(site) {}

  /// A tensor of the file, read.
  Tensor tensor(const StoredTensor& stored) {
    const Tensor whole = storage(stored.storage, stored.dtype);
    const bool empty_one = std::find(stored.sizes.begin(), stored.sizes.end(), 0) != stored.sizes.end();
    Tensor part = empty_one ? empty(stored.sizes, {.dtype = stored.dtype, .device = device_}, site_)
                            : as_strided(whole, stored.sizes, stored.strides, stored.offset, site_);
    return stored.requires_grad ? part.detach().requires_grad_() : part;
  }

 private:
  const Tensor& storage(const std::string& key, DType dtype) {
    Tensor& tensor = read_[{key, dtype}];
    if (tensor.defined()) return tensor;
    const InputFile& file = content_.file;
    const Place& place = content_.places.at(key);
    const int64_t numel = content_.storages.at({key, dtype});
    const uint64_t width = size_of(dtype), bytes = static_cast<uint64_t>(numel) * width;
    if (bytes > place.bytes) file.bad("the storage ", in_quotes(key), " is to have ", bytes, " bytes, but has ", place.bytes);
    Tensor host = empty({numel}, dtype, site_);
    auto* const data = static_cast<unsigned char*>(host.data_ptr());
    if (place.packed) read_entry(file, *place.packed, data, bytes);
    else if (bytes) file.read(data, bytes, place.begin);
    if (dtype == kBool)
      for (uint64_t i = 0; i < bytes; ++i)
        if (data[i] > 1) file.bad("the storage ", in_quotes(key), " has the value ", static_cast<int>(data[i]), " in a bool");
    if (content_.big_endian)
      for (uint64_t i = 0; i < bytes; i += width) std::reverse(data + i, data + i + width);
    tensor = host.to(device_, {}, site_);
    return tensor;
  }

  const TorchFile& content_;
  const Device device_;
  const Site site_;
  std::map<std::pair<std::string, DType>, Tensor> read_;
};

/// Reads the tensors for which wanted(name) holds.
template <class Wanted>
void read_tensors(const TorchFile& content, Device device, Site site, const Wanted& wanted) {
  const NoGradGuard no_grad;
  StorageReader storages(content, device, site);
  detail::each_tensor(content.value, [&](const std::string& name, const PlainValue& tensor) {
    PlainNode& node = *PlainAccess::node_of(tensor);
    if (!node.stored || !wanted(name)) return;
    node.tensor = storages.tensor(*node.stored);
    node.stored.reset();
  });
}

}  // namespace

PlainValue read_torch(const std::string& path, Device device, Site site) {
  TorchFile content(path);
  read_tensors(content, device, site, [](const std::string&) { return true; });
  return std::move(content.value);
}

bool is_torch_file(const InputFile& file) {
  if (after_magic(file)) return true;
  if (file.read(std::min<uint64_t>(file.size(), 2), 0) != "PK") return false;
  const auto entries = read_zip_directory(file);
  return std::any_of(entries.begin(), entries.end(),
                     [](const ZipEntry& entry) { return entry.name == "data.pkl" || entry.name.ends_with("/data.pkl"); });
}

FileContents list_torch(const std::string& path) {
  const TorchFile content(path);
  FileContents contents{.format = "PyTorch", .tensors = {}, .metadata = {}};
  detail::each_tensor(content.value, [&](const std::string& name, const PlainValue& tensor) {
    const PlainNode& node = *PlainAccess::node_of(tensor);
    const DType dtype = node.stored ? node.stored->dtype : node.tensor.dtype();
    const Shape& sizes = node.stored ? node.stored->sizes : node.tensor.sizes();
    uint64_t bytes = size_of(dtype);
    for (const int64_t size : sizes) bytes *= static_cast<uint64_t>(size);
    contents.tensors.push_back({name, tandem::name(dtype), dtype, sizes, bytes, ""});
  });
  return contents;
}

TensorMap load_torch(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  const TorchFile content(path);
  const std::set<std::string> wanted(names.begin(), names.end());
  std::set<std::string> found;
  detail::each_tensor(content.value, [&](const std::string& name, const PlainValue&) {
    if (!found.insert(name).second) content.file.bad("has two tensors whose keys make the name ", in_quotes(name));
  });
  for (const std::string& name : wanted)
    if (!found.contains(name)) content.file.bad("there is no tensor ", in_quotes(name), "; there is ", listed(found));
  const auto is_wanted = [&](const std::string& name) { return names.empty() || wanted.contains(name); };
  read_tensors(content, device, site, is_wanted);
  TensorMap tensors;
  detail::each_tensor(content.value, [&](const std::string& name, const PlainValue& tensor) {
    if (is_wanted(name)) tensors.emplace(name, tensor.to_tensor());
  });
  return tensors;
}

}  // namespace tandem::io
