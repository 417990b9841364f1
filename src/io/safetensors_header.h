// The front of a safetensors file: which tensors there are, and where their bytes lie.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/file.h"
#include "io/safetensors.h"

namespace tandem::io {

/// The key of a file's free text, which no tensor can have.
inline constexpr const char* kSafetensorsMetadata = "__metadata__";
/// The most bytes a header may take. The reference implementation's limit, too.
inline constexpr uint64_t kLongestSafetensorsHeader = 100'000'000;

/// What the header says of one tensor, checked against itself and the size of the data.
struct SafetensorsEntry {
  std::optional<DType> dtype;
  std::string other;  // the dtype's name in the file, where it is none of ours
  Shape sizes;
  uint64_t begin = 0, end = 0;  // within the data
};

/// What the header says in all.
struct SafetensorsHeader {
  uint64_t bytes = 0;                                             // before the data
  std::vector<std::pair<std::string, SafetensorsEntry>> entries;  // in the order of their bytes, which they cover without overlap or gap
  Metadata metadata;
};

/// Reads it. Error, naming the file, where something in it cannot be.
[[nodiscard]] SafetensorsHeader read_safetensors_header(const InputFile& file);

/// The dtype's name in the format.
[[nodiscard]] const char* safetensors_name(DType dtype);

}  // namespace tandem::io
