// Writing Protocol Buffers messages by hand (https://protobuf.dev/programming-guides/encoding): the few field types that event files take.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tandem::io {

static_assert(std::endian::native == std::endian::little, "the format's bytes are little-endian, and so are ours");

/// A message as it grows, field after field. A field that has its type's default value may be left out.
class Message {
 public:
  Message& integer(int field, int64_t value) {
    key(field, 0);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& real(int field, double value) { return fixed(field, 1, value); }
  Message& real32(int field, float value) { return fixed(field, 5, value); }
  Message& bytes(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  /// What a field begins with whose bytes are to follow: for those that are too many to be copied.
  Message& opening(int field, uint64_t size) {
    key(field, 2);
    varint(size);
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.bytes_); }
  /// Packed.
  Message& reals(int field, std::span<const double> values) {
    return bytes(field, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  [[nodiscard]] const std::string& str() const { return bytes_; }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  void key(int field, unsigned wire_type) { varint(static_cast<uint64_t>(field) << 3U | wire_type); }
  template <class T>
  Message& fixed(int field, unsigned wire_type, T value) {
    key(field, wire_type);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }

  std::string bytes_;
};

}  // namespace tandem::io
