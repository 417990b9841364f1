// The front of a GGUF file: metadata, and which tensors there are, of which type, and where their bytes lie.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.h"
#include "io/file.h"
#include "io/gguf_types.h"
#include "io/metadata_value.h"

namespace tandem::io {

/// What the front says of one tensor, checked against the size of the data.
struct GgufEntry {
  const GgufType* type = nullptr;  // nullptr where it is not known
  uint32_t type_id = 0;
  Shape sizes;
  uint64_t begin = 0, bytes = 0;  // within the data; 0 bytes where the type is not known
  /// As an error or a table shows it.
  [[nodiscard]] std::string type_name() const;
};

/// What the front says in all.
struct GgufHeader {
  uint32_t version = 0;
  MetadataMap metadata;
  uint64_t data_begin = 0;                                 // in the file
  std::vector<std::pair<std::string, GgufEntry>> entries;  // in the order of their bytes
};

/// What a GGUF file begins with.
inline constexpr std::string_view kGgufMagic = "GGUF";

/// Reads it. Error, naming the file, where something in it cannot be.
[[nodiscard]] GgufHeader read_gguf_header(const InputFile& file);

}  // namespace tandem::io
