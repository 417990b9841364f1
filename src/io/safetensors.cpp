// Writing and reading safetensors: tensors between the file and memory. The header is safetensors_header.cpp's and
// safetensors_writer.cpp's.
#include "io/safetensors.h"

#include <algorithm>
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

Tensor read_tensor(const InputFile& file, const std::string& name, const SafetensorsEntry& entry, uint64_t data_begin, Device device,
                   Site site) {
  const Tensor tensor = empty(entry.sizes, {.dtype = *entry.dtype}, site);
  const size_t bytes = tensor.nbytes();
  if (bytes > 0) file.read(tensor.data_ptr(), bytes, data_begin + entry.begin);
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
  for (const auto& [name, entry] : header.entries)
    if (is_wanted(name)) content.tensors.emplace(name, read_tensor(file, name, entry, header.bytes, device, site));
  return content;
}

SafetensorsFile read_safetensors(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  return read_safetensors_as("load_safetensors", path, device, names, site);
}

TensorMap load_safetensors(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  return read_safetensors(path, device, names, site).tensors;
}

}  // namespace tandem::io
