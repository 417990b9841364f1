// Tensors out of a file of any format that is read here: which one it is stands in its first bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/metadata_value.h"
#include "io/safetensors.h"

namespace tandem::io {

/// What is done with a tensor whose type no tensor here has, such as F8_E4M3.
enum class OtherTypes {
  AreErrors,
  AreLeftOut,  // with a warning
};

/// Reads the tensors that are named, or all where `names` is empty, onto `device`: a file of safetensors, a folder or an index of shards
/// (load_safetensors_shards), GGUF (load_gguf), a file of PyTorch's (load_torch), an .npz archive, or an .npy file, whose tensor is called
/// as the file without its ending. The name of a file decides nothing. Error, naming the file and what is read, where it is none of these.
[[nodiscard]] TensorMap load_tensors(const std::string& path, Device device = cpu(), const std::vector<std::string>& names = {},
                                     OtherTypes others = OtherTypes::AreErrors, Site site = Site::here());

/// Whether load_tensors reads the file or folder, and as another format than one file of safetensors. `op` is named in errors.
[[nodiscard]] bool is_other_than_safetensors(const char* op, const std::string& path);

/// What a file says of one tensor.
struct FileTensor {
  std::string name;
  std::string type;            // as the file has it: "F8_E4M3", "Q4_K", "float32"
  std::optional<DType> dtype;  // of the tensor that load_tensors makes of it; nothing where it cannot
  Shape sizes;
  uint64_t bytes = 0;  // in the file
  std::string file;    // the shard that it is in, where there are shards
};

/// What a file says of all of them.
struct FileContents {
  std::string format;  // "safetensors", "safetensors in shards", "GGUF", "PyTorch", "npz", "npy"
  std::vector<FileTensor> tensors;
  MetadataMap metadata;
};

/// Reads what a file says of its tensors, and none of their bytes. Files as of load_tensors, and errors as there.
[[nodiscard]] FileContents list_tensors(const std::string& path);

}  // namespace tandem::io
