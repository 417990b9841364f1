// Reading GGUF: tensors between the file and memory. The front is gguf_header.cpp's, the blocks are gguf_types.cpp's.
#include "io/gguf.h"

#include <algorithm>
#include <set>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/file.h"
#include "io/gguf_header.h"
#include "io/named.h"
#include "ops/creation.h"

namespace tandem::io {
namespace {

Tensor read_tensor(const InputFile& file, const GgufEntry& entry, uint64_t data_begin, Device device, Site site) {
  const GgufType& type = *entry.type;
  const Tensor tensor = empty(entry.sizes, {.dtype = *type.dtype}, site);
  const uint64_t begin = data_begin + entry.begin;
  if (type.decode == nullptr) {
    if (entry.bytes > 0) file.read(tensor.data_ptr(), entry.bytes, begin);
    return tensor.to(device, {}, site);
  }
  constexpr uint64_t kPiece = 4 << 20;  // bytes
  const uint64_t blocks = entry.bytes / type.bytes, most = kPiece / type.bytes;
  std::string piece(std::min(blocks, most) * type.bytes, '\0');
  auto* out = static_cast<float*>(tensor.data_ptr());
  for (uint64_t done = 0; done < blocks;) {
    const uint64_t count = std::min(most, blocks - done);
    file.read(piece.data(), count * type.bytes, begin + done * type.bytes);
    decode_blocks(type, reinterpret_cast<const uint8_t*>(piece.data()), static_cast<int64_t>(count), out);
    out += count * type.block;
    done += count;
  }
  return tensor.to(device, {}, site);
}

}  // namespace

GgufFile read_gguf(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  const NoGradGuard no_grad;
  const InputFile file("load_gguf", path);
  GgufHeader header = read_gguf_header(file);
  const std::set<std::string> wanted(names.begin(), names.end());
  const auto is_wanted = [&](const std::string& name) { return names.empty() || wanted.contains(name); };
  std::set<std::string> all;
  for (const auto& [name, entry] : header.entries) {
    all.insert(name);
    if (is_wanted(name) && (entry.type == nullptr || !entry.type->dtype))
      file.bad("tensor ", in_quotes(name), " is of ", entry.type_name(), ", which is none of ", readable_gguf_types(),
               ": convert it with llama.cpp's tools, or give load_gguf the names of others");
  }
  for (const std::string& name : wanted)
    if (!all.contains(name)) file.bad("there is no tensor ", in_quotes(name), "; there is ", listed(all));
  GgufFile content{.tensors = {}, .metadata = std::move(header.metadata)};
  for (const auto& [name, entry] : header.entries)
    if (is_wanted(name)) content.tensors.emplace(name, read_tensor(file, entry, header.data_begin, device, site));
  return content;
}

TensorMap load_gguf(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  return read_gguf(path, device, names, site).tensors;
}

MetadataMap load_gguf_metadata(const std::string& path) { return read_gguf_header(InputFile("load_gguf_metadata", path)).metadata; }

}  // namespace tandem::io
