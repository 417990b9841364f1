// The index of a model in shards: which tensor is in which file.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "io/safetensors.h"

namespace tandem::io {

/// The index's name where tandem writes it, and its ending whoever writes it.
inline constexpr std::string_view kIndexName = "model.safetensors.index.json", kIndexEnding = ".safetensors.index.json";
/// The file of a model in one piece.
inline constexpr std::string_view kWholeName = "model.safetensors";

/// Which files hold a model.
struct ShardIndex {
  std::string path;                          // of the index; empty where the model is one file
  std::string folder;                        // of the shards, with a slash at its end, or empty
  std::map<std::string, std::string> files;  // a shard's name by tensor; empty where the model is one file
  std::string whole;                         // the path of that file
  Metadata metadata;                         // the index's; numbers as text
};

/// Reads the index that is `path` or lies in that folder. `op` is named in errors. Error where a shard's name leads out of the folder.
[[nodiscard]] ShardIndex read_shard_index(const char* op, const std::string& path);

/// Error where a shard lacks tensors that the index has there.
void check_promise(const char* op, const ShardIndex& index, const std::string& shard, const std::set<std::string>& names);

/// The index's text.
[[nodiscard]] std::string shard_index_text(const std::map<std::string, std::string>& files, uint64_t total_bytes);

}  // namespace tandem::io
