#include "io/sharded.h"

#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "io/named.h"
#include "io/safetensors_reader.h"
#include "io/shard_index.h"
#include "io/shards_writer.h"

namespace tandem::io {
namespace {

constexpr const char* kOp = "load_safetensors_shards";

/// Which tensors are to be read from which shard: those of `names`, or all.
std::map<std::string, std::vector<std::string>> wanted_of(const ShardIndex& index, const std::vector<std::string>& names) {
  std::map<std::string, std::vector<std::string>> wanted;
  if (names.empty())
    for (const auto& [name, file] : index.files) wanted[file].push_back(name);
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    const auto found = index.files.find(name);
    if (found == index.files.end()) {
      std::vector<std::string> all;
      for (const auto& [other, file] : index.files) all.push_back(other);
      fail("[", kOp, "] ", index.path, ": the index has no tensor ", in_quotes(name), "; there is ", listed(all));
    }
    wanted[found->second].push_back(name);
  }
  return wanted;
}

}  // namespace

SafetensorsFile read_safetensors_shards(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  ShardIndex index = read_shard_index(kOp, path);
  if (!index.whole.empty()) return read_safetensors_as(kOp, index.whole, device, names, site);
  const auto wanted = wanted_of(index, names);
  // Before the first tensor takes memory: a model that is not whole is told of at once.
  for (const auto& [shard, tensors] : wanted) check_promise(kOp, index, shard, {tensors.begin(), tensors.end()});
  SafetensorsFile content{.tensors = {}, .metadata = std::move(index.metadata)};
  for (const auto& [shard, tensors] : wanted) {
    SafetensorsFile part = read_safetensors_as(kOp, index.folder + shard, device, tensors, site);
    content.tensors.merge(part.tensors);
    content.metadata.merge(part.metadata);
  }
  return content;
}

TensorMap load_safetensors_shards(const std::string& path, Device device, const std::vector<std::string>& names, Site site) {
  return read_safetensors_shards(path, device, names, site).tensors;
}

void save_safetensors_shards(const std::string& folder, const TensorMap& tensors, uint64_t max_bytes, const Metadata& metadata, Site site) {
  constexpr const char* kSave = "save_safetensors_shards";
  if (max_bytes == 0) fail<ValueError>("[", kSave, "] ", folder, ": max_bytes must be at least 1, not 0");
  ShardsWriter writer(kSave, folder, planned(kSave, folder, tensors), max_bytes, metadata);
  for (SafetensorsWriter& shard : writer.shards())
    for (const PlannedTensor& next : shard.order()) shard.write(tensors.at(next.name), site);
  writer.commit();
}

}  // namespace tandem::io
