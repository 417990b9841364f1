// Files of the formats that readers of data take.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/files.h"

inline void write_gzip(const std::string& path, const std::string& bytes) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

/// An IDX file: the code of a type, sizes, and the elements' bytes.
inline std::string idx_bytes(int code, const std::vector<uint32_t>& sizes, const std::string& elements) {
  std::string bytes = {0, 0, static_cast<char>(code), static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  return bytes + elements;
}
