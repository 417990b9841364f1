// Writing and reading safetensors: tensors between the file and memory. The header is safetensors_header.cpp's and
// safetensors_writer.cpp's.
#include "io/safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "autograd/autograd.h"
#include "base/error.h"
#include "io/file.h"
#include "io/named.h"
#include "io/safetensors_header.h"
#include "io/safetensors_reader.h"
#include "io/safetensors_writer.h"
#include "ops/creation.h"

namespace tandem::io {
namespace {

/// From here on a tensor is the file's own pages, and no copy of them.
constexpr size_t kMappedBytes = size_t{1} << 20;

/// The tensor in `mapped`, the whole file; undefined where it is small, or does not lie as its type wants it.
Tensor mapped_tensor(const std::shared_ptr<char>& mapped, const SafetensorsEntry& entry, uint64_t begin, Site site) {
  const uint64_t bytes = entry.end - entry.begin;
  if (!mapped || bytes < kMappedBytes || begin % size_of(*entry.dtype) != 0) return Tensor();
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t page_begin = begin / page * page;
  madvise(mapped.get() + page_begin, begin + bytes - page_begin, MADV_WILLNEED);  // a wish: without it a page is read when it is used
  return from_blob(
      mapped.get() + begin, entry.sizes, contiguous_strides(entry.sizes), [mapped](void*) {}, {.dtype = *entry.dtype}, site);
}

Tensor read_tensor(const InputFile& file, const std::shared_ptr<char>& mapped, const std::string& name, const SafetensorsEntry& entry,
                   uint64_t data_begin, Device device, Site site) {
  Tensor tensor = mapped_tensor(mapped, entry, data_begin + entry.begin, site);
  if (!tensor.defined()) {
    tensor = empty(entry.sizes, {.dtype = *entry.dtype}, site);
    if (tensor.nbytes() > 0) file.read(tensor.data_ptr(), tensor.nbytes(), data_begin + entry.begin);
  }
  const size_t bytes = tensor.nbytes();
  if (entry.dtype == kBool) {
    const auto* values = static_cast<const unsigned char*>(tensor.data_ptr());
    for (size_t i = 0; i < bytes; ++i)
      if (values[i] > 1) file.bad("tensor ", in_quotes(name), " has the value ", static_cast<int>(values[i]), " in a bool");
  }
  return tensor.to(device, {}, site);
}

}  // namespace

void save_safetensors(const std::string& path, const TensorMap& tensors, const Metadata& metadata, Site site) {
  const NoGradGuard no_grad;
  SafetensorsWriter writer("save_safetensors", path, planned("save_safetensors", path, tensors), metadata);
  for (const PlannedTensor& next : writer.order()) writer.write(tensors.at(next.name), site);
  writer.commit();
}

SafetensorsFile read_safetensors_as(const char* op, const std::string& path, Device device, const std::vector<std::string>& names,
                                    Site site) {
  const NoGradGuard no_grad;
  const InputFile file(op, path);
  SafetensorsHeader header = read_safetensors_header(file);
  // Names of the file, those that can be read only or all.
  const auto list = [&](bool only_readable) {
    std::vector<std::string> all;
    for (const auto& [name, entry] : header.entries)
      if (!only_readable || entry.dtype) all.push_back(name);
    return listed(all);
  };
  const std::set<std::string> wanted(names.begin(), names.end());
  const auto is_wanted = [&](const std::string& name) { return names.empty() || wanted.contains(name); };
  size_t found = 0;
  for (const auto& [name, entry] : header.entries) {
    if (!is_wanted(name)) continue;
    ++found;
    if (!entry.dtype)
      file.bad("tensor ", in_quotes(name), " in the header has the dtype ", in_quotes(entry.other),
               ", which is none of BOOL U8 I8 I16 I32 I64 F16 BF16 F32 F64: convert it in Python, or give ", op,
               " the names of "
               "others: ",
               list(true));
  }
  for (const std::string& name : found < wanted.size() ? wanted : std::set<std::string>())
    if (std::none_of(header.entries.begin(), header.entries.end(), [&](const auto& entry) { return entry.first == name; }))
      file.bad("there is no tensor ", in_quotes(name), "; there is ", list(false));
  SafetensorsFile content{.tensors = {}, .metadata = std::move(header.metadata)};
  const std::shared_ptr<char> mapped = file.size() < kMappedBytes ? nullptr : file.map();
  for (const auto& [name, entry] : header.entries)
    if (is_wanted(name)) content.tensors.emplace(name, read_tensor(file, mapped, name, entry, header.bytes, device, site));
  return content;
}

SafetensorsFile read_safetensors(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  return read_safetensors_as("load_safetensors", path, device, names, site);
}

TensorMap load_safetensors(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  return read_safetensors(path, device, names, site).tensors;
}

}  // namespace tandem::io
