// GGUF, the files of llama.cpp's models (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): metadata, and tensors whose numbers
// are plain or quantized in blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/metadata_value.h"
#include "io/safetensors.h"

namespace tandem::io {

/// What a GGUF file holds.
struct GgufFile {
  TensorMap tensors;
  MetadataMap metadata;  // as "general.architecture"
};

/// Reads the tensors that are named, or all where `names` is empty, onto `device`. Versions 2 and 3, little-endian. Sizes are in PyTorch's
/// order: the last one counts the elements that lie side by side. F32, F16, BF16, F64 and I8 to I64 keep their types; Q4_0, Q4_1, Q5_0,
/// Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS and MXFP4 become the float32 numbers that they stand for. Another type is an error only where
/// such a tensor is wanted. Nothing in the file is trusted: lengths, types, alignment, offsets, overlaps and sizes are checked before
/// memory is taken, and an error names the file and what is wrong with it.
[[nodiscard]] TensorMap load_gguf(const std::string& path, Device device = cpu(), const std::vector<std::string>& names = {},
                                  Site site = Site::here());
/// The same with the file's metadata.
[[nodiscard]] GgufFile read_gguf(const std::string& path, Device device = cpu(), const std::vector<std::string>& names = {},
                                 Site site = Site::here());
/// The metadata alone: no tensor is read. Whole numbers are int64; one of 2^63 or more is the double that is nearest to it.
[[nodiscard]] MetadataMap load_gguf_metadata(const std::string& path);

}  // namespace tandem::io
