// Named tensors in a file, in the safetensors format (https://huggingface.co/docs/safetensors): eight bytes of header length, a JSON
// header, then the bytes of the tensors. Other libraries read what this writes, and the other way round.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "tensor/state_dict.h"

namespace tandem::io {

/// Tensors by name.
using TensorMap = std::map<std::string, Tensor>;
/// A file's free text by key.
using Metadata = std::map<std::string, std::string>;

/// What a safetensors file holds.
struct SafetensorsFile {
  TensorMap tensors;
  Metadata metadata;
};

/// Writes the tensors, copied from wherever they live; waits for their devices. The file is written beside `path`, flushed to the disk and
/// renamed, so `path` holds the old or the new content at any moment, never half of it. Error, naming the file, where that does not
/// succeed; error for an undefined tensor and for a name that is "__metadata__" or not UTF-8.
void save_safetensors(const std::string& path, const TensorMap& tensors, const Metadata& metadata = {}, Site site = Site::here());
/// The same of a module's or an optimizer's state: `save_safetensors("net.safetensors", net.state_dict())` is a file that Python's
/// safetensors.torch.load_file gives to load_state_dict.
void save_safetensors(const std::string& path, const std::same_as<StateDict> auto& state, const Metadata& metadata = {},
                      Site site = Site::here()) {
  save_safetensors(path, TensorMap(state.begin(), state.end()), metadata, site);
}

/// Reads the tensors that are named, or all where `names` is empty, onto `device`. Nothing in the file is trusted: lengths, offsets,
/// overlaps, gaps, dtypes and sizes are checked before memory is taken, and an error names the file and what is wrong with it. A dtype that
/// no tensor has, such as F8_E4M3, is an error only where such a tensor is wanted. On the CPU, tensors of a megabyte and more are the
/// file's own pages, read from the disk as they are used: the file may be replaced meanwhile, as save_safetensors does, but not be
/// shortened.
[[nodiscard]] TensorMap load_safetensors(const std::string& path, Device device = cpu(), const std::vector<std::string>& names = {},
                                         Site site = Site::here());
/// The same with the file's metadata.
[[nodiscard]] SafetensorsFile read_safetensors(const std::string& path, Device device = cpu(), const std::vector<std::string>& names = {},
                                               Site site = Site::here());

}  // namespace tandem::io
