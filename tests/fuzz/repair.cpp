#include "repair.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace fuzz {
namespace {

template <class T>
T get(const std::string& bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

template <class T>
void set(std::string& bytes, size_t at, T number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

uint32_t checksum(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

struct Inflated {
  std::string_view bytes;  // until the next call
  size_t taken;            // bytes of the packed data
};

/// What a stream of deflate packed; nothing where it is damaged or unpacks to more than a fuzzer's input is worth.
std::optional<Inflated> inflated(std::string_view packed) {
  static std::string bytes(size_t{256} << 10, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<unsigned>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<unsigned>(bytes.size());
  const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END;
  inflateEnd(&stream);
  if (!whole) return std::nullopt;
  return Inflated{std::string_view(bytes).substr(0, stream.total_out), stream.total_in};
}

}  // namespace

std::string repaired_safetensors(std::string bytes) {
  constexpr size_t kBegin = sizeof(uint64_t);
  int depth = 0;
  bool quoted = false;
  for (size_t at = kBegin; at < bytes.size(); ++at) {
    if (bytes[at] == '"') quoted = !quoted;
    if (quoted) continue;
    depth += (bytes[at] == '{') - (bytes[at] == '}');
    if (depth > 0) continue;
    set<uint64_t>(bytes, 0, at + 1 - kBegin);
    break;
  }
  return bytes;
}

std::string repaired_gzip(std::string bytes) {
  constexpr size_t kHeader = 10;  // of a member without a name
  if (bytes.size() < kHeader || bytes[3] != 0) return bytes;
  const auto unpacked = inflated(std::string_view(bytes).substr(kHeader));
  if (!unpacked || bytes.size() < kHeader + unpacked->taken + 8) return bytes;
  set<uint32_t>(bytes, kHeader + unpacked->taken, checksum(unpacked->bytes));
  set<uint32_t>(bytes, kHeader + unpacked->taken + 4, static_cast<uint32_t>(unpacked->bytes.size()));
  return bytes;
}

std::string repaired_zip(std::string bytes) {
  constexpr size_t kLocal = 30, kDirectory = 46, kEnd = 22;
  const size_t end = bytes.rfind("PK\5\6");
  if (end == std::string::npos || bytes.size() - end < kEnd) return bytes;
  size_t at = get<uint32_t>(bytes, end + 16);
  for (int count = get<uint16_t>(bytes, end + 10); count > 0 && at + kDirectory <= end; --count) {
    const size_t header = get<uint32_t>(bytes, at + 42), packed = get<uint32_t>(bytes, at + 20);
    if (header + kLocal <= bytes.size()) {
      const size_t begin = header + kLocal + get<uint16_t>(bytes, header + 26) + get<uint16_t>(bytes, header + 28);
      const std::string_view data = std::string_view(bytes).substr(std::min(begin, bytes.size()), packed);
      const auto unpacked = get<uint16_t>(bytes, at + 10) == 0 ? Inflated{data, data.size()} : inflated(data);
      if (unpacked) {
        set<uint32_t>(bytes, at + 16, checksum(unpacked->bytes));
        set<uint32_t>(bytes, at + 24, static_cast<uint32_t>(unpacked->bytes.size()));
      }
    }
    at += kDirectory + get<uint16_t>(bytes, at + 28) + get<uint16_t>(bytes, at + 30) + get<uint16_t>(bytes, at + 32);
  }
  return bytes;
}

std::string repaired_png(std::string bytes) {
  constexpr size_t kSignature = 8, kAround = 12;  // a chunk's length, name and checksum
  for (size_t at = kSignature; at + kAround <= bytes.size();) {
    const size_t length = __builtin_bswap32(get<uint32_t>(bytes, at));
    if (length > bytes.size() - at - kAround) break;
    set<uint32_t>(bytes, at + 8 + length, __builtin_bswap32(checksum(std::string_view(bytes).substr(at + 4, 4 + length))));
    at += kAround + length;
  }
  return bytes;
}

}  // namespace fuzz
