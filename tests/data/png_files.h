// PNG files made by hand, chunk by chunk.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

inline std::string big_endian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

inline std::string chunk(const std::string& type, const std::string& data) {
  const std::string content = type + data;
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  return big_endian(static_cast<uint32_t>(data.size())) + content + big_endian(static_cast<uint32_t>(crc));
}

/// A PNG of this header and these bytes of packed pixels, with `more` chunks before those.
inline std::string png(uint32_t width, uint32_t height, char depth, char colour, const std::string& packed, const std::string& more = "") {
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", big_endian(width) + big_endian(height) + depth + colour + std::string(3, '\0')) + more +
         chunk("IDAT", packed) + chunk("IEND", "");
}

inline std::string zipped(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 9);
  out.resize(size);
  return out;
}
