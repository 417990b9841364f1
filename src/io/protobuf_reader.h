// Reading Protocol Buffers messages by hand (https://protobuf.dev/programming-guides/encoding): fields one after the other. What it is
// given may be anything.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tandem::io {

/// `while (reader.next())` goes through the fields of a message; field() says which it is. A value that is asked for as another type than
/// it has is 0, or empty. Error where the bytes are no message.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool next() {
    if (rest_.empty()) return false;
    const uint64_t key = varint();
    field_ = static_cast<int>(key >> 3U & 0x1fffffffU);
    number_ = 0;
    bytes_ = {};
    type_ = static_cast<unsigned>(key & 7U);
    if (type_ == 0) number_ = varint();
    else if (type_ == 1) std::memcpy(&number_, take(8).data(), 8);
    else if (type_ == 5) std::memcpy(&number_, take(4).data(), 4);
    else if (type_ == 2) bytes_ = take(varint());
    else fail("a message of protobuf has a field of the unknown type ", type_);
    return true;
  }
  [[nodiscard]] int field() const { return field_; }
  [[nodiscard]] int64_t integer() const { return type_ == 0 ? static_cast<int64_t>(number_) : 0; }
  [[nodiscard]] double real() const {
    return type_ == 1 ? std::bit_cast<double>(number_) : type_ == 5 ? double{std::bit_cast<float>(static_cast<uint32_t>(number_))} : 0;
  }
  /// A text, bytes, or another message; points into the message that is read.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  /// Adds what a repeated field of whole numbers has here: one of them, or many, packed.
  void add_integers(std::vector<int64_t>& to) const {
    if (type_ != 2) return to.push_back(integer());
    for (MessageReader packed(bytes_); !packed.rest_.empty();) to.push_back(static_cast<int64_t>(packed.varint()));
  }
  /// The same of numbers that take the bytes of a T each.
  template <class T>
  void add_fixed(std::vector<T>& to) const {
    if (type_ != 2) return to.push_back(static_cast<T>(real()));
    if (bytes_.size() % sizeof(T) != 0) fail("a message of protobuf ends within a number");
    const size_t before = to.size();
    to.resize(before + bytes_.size() / sizeof(T));
    if (!bytes_.empty()) std::memcpy(to.data() + before, bytes_.data(), bytes_.size());
  }

 private:
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) fail("a message of protobuf ends within a field");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    fail("a message of protobuf has a number of more than 64 bits");
  }

  std::string_view rest_, bytes_;
  uint64_t number_ = 0;
  int field_ = 0;
  unsigned type_ = 0;
};

}  // namespace tandem::io
