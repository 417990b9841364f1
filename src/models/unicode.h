// Characters of UTF-8 text and their kinds, as tokenizers tell them apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace tandem::models::unicode {

using Character = Utf8Character;
/// The character that begins at byte `at`, which is inside the text. A byte that begins none is one by itself, of kind Other.
[[nodiscard]] Character character_at(std::string_view text, size_t at);
/// How many bytes at the end of `text` begin a character that is not complete.
[[nodiscard]] size_t unfinished_bytes(std::string_view text);
/// The text with U+FFFD in the place of each run of bytes that begins a character and does not finish it, and of each byte that begins
/// none.
[[nodiscard]] std::string without_invalid(std::string_view text);

/// Letters are of the general categories L*, numbers of N*, spaces have the property White_Space; of Unicode 14.
enum class Kind : uint8_t { Letter, Number, Space, Other };
/// The code points of each kind in ranges, by the first and the last one of each. In models/unicode_ranges.cpp.
extern const std::span<const uint32_t> kLetters, kNumbers, kSpaces;
/// The kind of a character.
[[nodiscard]] Kind kind_of(uint32_t code);

}  // namespace tandem::models::unicode
