#include "io/pickle.h"

#include <bit>
#include <limits>

namespace tandem::io {
namespace {

/// How many bytes the UTF-8 character at the front takes; 0 where there is none.
size_t character(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  // Longer than need be, half of a surrogate pair, past the last code point.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) || (first == 0xF0 && byte(1) < 0x90) ||
      (first == 0xF4 && byte(1) >= 0x90))
    return 0;
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = character(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

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
    const size_t length = character(value.substr(at));
    if (length) clean += value.substr(at, length);
    else clean += '?';
    at += length ? length : 1;
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
