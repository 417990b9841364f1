// Whole files in memory, unpacked where they are gzip.
#pragma once

#include <string>
#include <string_view>

namespace tandem::io {

/// What gzip packed: all members, one after another. Error that begins with `what` where the bytes are damaged or end too early.
[[nodiscard]] std::string gunzip(std::string_view packed, std::string_view what);

/// A file's bytes; those it was packed from where its first two are gzip's. `op` is named in errors.
[[nodiscard]] std::string read_bytes(const char* op, const std::string& path);

}  // namespace tandem::io
