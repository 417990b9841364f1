#include "io/pickle.h"

#include <bit>
#include <limits>

#include "base/utf8.h"

namespace tandem::io {

void PickleWriter::little_endian(uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFFU);
}

void PickleWriter::text(std::string_view value) {
  if (const auto known = texts_.find(value); known != texts_.end()) {
    bytes_ += 'j';  // LONG_BINGET
    return little_endian(known->second, 4);
  }
  std::string clean;
  for (size_t at = 0; at < value.size();) {
    const auto character = utf8_character(value, at);
    if (character) clean += value.substr(at, character->bytes);
    else clean += '?';
    at += character ? character->bytes : 1;
  }
  bytes_ += 'X';  // BINUNICODE
  little_endian(clean.size(), 4);
  bytes_ += clean;
  const auto number = static_cast<uint32_t>(texts_.size());
  texts_.emplace(value, number);
  bytes_ += 'r';  // LONG_BINPUT
  little_endian(number, 4);
}

void PickleWriter::number(int64_t value) {
  if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
    bytes_ += 'J';  // BININT
    return little_endian(static_cast<uint64_t>(value), 4);
  }
  bytes_ += "\x8a\x08";  // LONG1 of eight bytes
  little_endian(static_cast<uint64_t>(value), 8);
}

void PickleWriter::number(uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return number(static_cast<int64_t>(value));
  bytes_ += "\x8a\x09";
  little_endian(value, 8);
  bytes_ += '\0';
}

void PickleWriter::real(double value) {
  bytes_ += 'G';
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int i = 7; i >= 0; --i) bytes_ += static_cast<char>(bits >> (8 * i) & 0xFFU);  // the highest byte first
}

void PickleWriter::global(std::string_view module, std::string_view name) { ((bytes_ += 'c').append(module) += '\n').append(name) += '\n'; }

void PickleWriter::pair(int64_t first, int64_t second) {
  number(first);
  number(second);
  bytes_ += '\x86';  // TUPLE2
}

}  // namespace tandem::io
