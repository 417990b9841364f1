// GGUF files, put together byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gguf_bytes {

template <class T>
std::string bytes_of(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}
inline std::string text(const std::string& value) { return bytes_of<uint64_t>(value.size()) + value; }
inline std::string floats(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += bytes_of(value);
  return bytes;
}

enum : uint32_t { kU32Type = 4, kI32Type = 5, kF32Type = 6, kBoolType = 7, kTextType = 8, kListType = 9, kU64Type = 10 };

inline std::string value(const std::string& key, uint32_t type, const std::string& bytes) { return text(key) + bytes_of(type) + bytes; }

/// What stands before the data of a tensor; the first size is that of elements side by side.
inline std::string tensor(const std::string& name, std::vector<uint64_t> sizes, uint32_t type, uint64_t offset) {
  std::string bytes = text(name) + bytes_of(static_cast<uint32_t>(sizes.size()));
  for (const uint64_t size : sizes) bytes += bytes_of(size);
  return bytes + bytes_of(type) + bytes_of(offset);
}

struct Parts {
  std::vector<std::string> values, tensors;
  std::string data;
  uint32_t version = 3;
  size_t alignment = 32;
};

inline std::string gguf(const Parts& parts) {
  std::string bytes = "GGUF" + bytes_of(parts.version) + bytes_of<uint64_t>(parts.tensors.size()) + bytes_of<uint64_t>(parts.values.size());
  for (const std::string& value : parts.values) bytes += value;
  for (const std::string& tensor : parts.tensors) bytes += tensor;
  bytes.resize((bytes.size() + parts.alignment - 1) / parts.alignment * parts.alignment, '\0');
  return bytes + parts.data;
}

}  // namespace gguf_bytes
