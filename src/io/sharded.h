// Safetensors in shards, as Hugging Face stores large models: model-00001-of-00003.safetensors and so on in one folder, and beside them
// model.safetensors.index.json, which says which tensor is in which file.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "io/safetensors.h"

namespace tandem::io {

/// Reads the tensors that are named, or all that the index has where `names` is empty, onto `device`. `path` is the index file or its
/// folder; a folder without an index is read where it has one file model.safetensors, or one file of the format in all. Only the shards
/// that hold what is wanted are opened, and each tensor is read into its own memory. Nothing in the files is trusted: a shard's name must
/// stay in the folder, and a tensor that the index promises and a shard lacks is an error with both names.
[[nodiscard]] TensorMap load_safetensors_shards(const std::string& path, Device device = cpu(), const std::vector<std::string>& names = {},
                                                Site site = Site::here());
/// The same with the metadata of the files that were read, and of the index: its numbers are text here.
[[nodiscard]] SafetensorsFile read_safetensors_shards(const std::string& path, Device device = cpu(),
                                                      const std::vector<std::string>& names = {}, Site site = Site::here());

/// Writes the tensors in shards of at most `max_bytes` each, in the order of their names; a larger tensor has a shard of its own. Where one
/// shard is enough it is called model.safetensors and has no index. The folder is made where it is missing, and what an earlier call left
/// in it and is not written anew is removed. All shards are on the disk before the first takes its name, and the index comes last: a reader
/// finds the old tensors, the new ones, or for a moment no index, and never some of both. Error, naming the file, where that does not
/// succeed.
void save_safetensors_shards(const std::string& folder, const TensorMap& tensors, uint64_t max_bytes = 5'000'000'000,
                             const Metadata& metadata = {}, Site site = Site::here());
/// The same of a module's or an optimizer's state.
void save_safetensors_shards(const std::string& folder, const std::same_as<StateDict> auto& state, uint64_t max_bytes = 5'000'000'000,
                             const Metadata& metadata = {}, Site site = Site::here()) {
  save_safetensors_shards(folder, TensorMap(state.begin(), state.end()), max_bytes, metadata, site);
}

}  // namespace tandem::io
