// The element types of GGUF: plain numbers, and blocks of numbers that share scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/dtype.h"

namespace tandem::io {

/// A type of ggml's.
struct GgufType {
  uint32_t id;
  const char* name;
  uint32_t block;  // elements that are stored together
  uint32_t bytes;  // that they take
  /// Of a tensor of it: the same numbers, or float32 where `decode` makes them; nothing where it cannot be read.
  std::optional<DType> dtype;
  /// The numbers of one block, in float32.
  void (*decode)(const uint8_t* block, float* out);
};

/// The type with this number; nullptr where it is not known.
[[nodiscard]] const GgufType* gguf_type(uint32_t id);

/// The names of the types that can be read, with blanks between them.
[[nodiscard]] std::string readable_gguf_types();

/// The numbers of `count` blocks one after another, by as many threads as help.
void decode_blocks(const GgufType& type, const uint8_t* blocks, int64_t count, float* out);

}  // namespace tandem::io
