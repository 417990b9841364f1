#include "io/list_formats.h"

#include <map>
#include <set>
#include <utility>

#include "io/file.h"
#include "io/gguf_header.h"
#include "io/safetensors_header.h"
#include "io/shard_index.h"

namespace tandem::io {
namespace {

constexpr const char* kOp = "list_tensors";

void add_metadata(FileContents& contents, Metadata& metadata) {
  for (auto& [key, value] : metadata) contents.metadata.try_emplace(key, MetadataValue{std::move(value)});
}

/// Adds what a file of safetensors has: all of it, or what the index has there.
void add_safetensors(FileContents& contents, const std::string& path, const std::string& shard, const std::set<std::string>* wanted) {
  const InputFile file(kOp, path);
  SafetensorsHeader header = read_safetensors_header(file);
  for (auto& [name, entry] : header.entries) {
    if (wanted != nullptr && !wanted->contains(name)) continue;
    std::string type = entry.dtype ? safetensors_name(*entry.dtype) : std::move(entry.other);
    contents.tensors.push_back({std::move(name), std::move(type), entry.dtype, entry.sizes, entry.end - entry.begin, shard});
  }
  add_metadata(contents, header.metadata);
}

}  // namespace

FileContents list_safetensors(const std::string& path) {
  FileContents contents{.format = "safetensors", .tensors = {}, .metadata = {}};
  add_safetensors(contents, path, "", nullptr);
  return contents;
}

FileContents list_shards(const std::string& path) {
  ShardIndex index = read_shard_index(kOp, path);
  if (!index.whole.empty()) return list_safetensors(index.whole);
  FileContents contents{.format = "safetensors in shards", .tensors = {}, .metadata = {}};
  add_metadata(contents, index.metadata);
  std::map<std::string, std::set<std::string>> shards;
  for (const auto& [name, shard] : index.files) shards[shard].insert(name);
  for (const auto& [shard, names] : shards) {
    check_promise(kOp, index, shard, names);
    add_safetensors(contents, index.folder + shard, shard, &names);
  }
  return contents;
}

FileContents list_gguf(const std::string& path) {
  const InputFile file(kOp, path);
  GgufHeader header = read_gguf_header(file);
  FileContents contents{.format = "GGUF", .tensors = {}, .metadata = std::move(header.metadata)};
  for (auto& [name, entry] : header.entries) {
    const std::optional<DType> dtype = entry.type == nullptr ? std::nullopt : entry.type->dtype;
    contents.tensors.push_back({std::move(name), entry.type_name(), dtype, entry.sizes, entry.bytes, ""});
  }
  return contents;
}

}  // namespace tandem::io
