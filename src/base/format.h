// Numbers as text, and columns of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tandem::detail {

/// What printf prints; of more than 399 bytes the first.
[[nodiscard, gnu::format(printf, 1, 2)]] std::string formatted(const char* pattern, ...);

/// Digits in groups of three: "-1234567" is "-1,234,567".
[[nodiscard]] std::string with_commas(std::string digits);

/// `text` with blanks behind it up to `width` bytes, or before it where it stands at the right.
[[nodiscard]] std::string padded(const std::string& text, size_t width, bool at_right);

/// A UUID of version 8 (RFC 9562): 122 of the bits of two words.
[[nodiscard]] std::string uuid_text(uint64_t first, uint64_t second);

}  // namespace tandem::detail
