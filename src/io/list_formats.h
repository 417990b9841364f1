// What files of each format say of their tensors: the rows of any_file.cpp's table.
#pragma once

#include <string>

#include "io/any_file.h"

namespace tandem::io {

class InputFile;

/// What a file of the format says of its tensors and of itself. Error where it is none, or damaged.
[[nodiscard]] FileContents list_safetensors(const std::string& path);
/// The same.
[[nodiscard]] FileContents list_shards(const std::string& path);
/// The same.
[[nodiscard]] FileContents list_gguf(const std::string& path);
/// The same.
[[nodiscard]] FileContents list_torch(const std::string& path);
/// The same.
[[nodiscard]] FileContents list_npz(const std::string& path);
/// The same.
[[nodiscard]] FileContents list_npy(const std::string& path);

/// Whether torch.save wrote it: an archive with a pickle, or the older format.
[[nodiscard]] bool is_torch_file(const InputFile& file);
/// The name of the tensor that an .npy file holds: the file's, without folder and ending.
[[nodiscard]] std::string npy_name(const std::string& path);

}  // namespace tandem::io
