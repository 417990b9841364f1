// Repairs of formats: what a mutation breaks that has nothing to do with what it is meant to try.
#pragma once

#include <string>

namespace fuzz {

/// The header's length in the first eight bytes, up to the brace that closes the header.
[[nodiscard]] std::string repaired_safetensors(std::string bytes);
/// Checksum and size of the first member, where its data unpack.
[[nodiscard]] std::string repaired_gzip(std::string bytes);
/// Checksums and sizes of the entries that the directory at the end lists.
[[nodiscard]] std::string repaired_zip(std::string bytes);
/// The chunks' checksums.
[[nodiscard]] std::string repaired_png(std::string bytes);

}  // namespace fuzz
