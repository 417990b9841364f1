// Characters of UTF-8 text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tandem {

/// A character of a text: its code point, and how many bytes it takes.
struct Utf8Character {
  uint32_t code = 0;
  size_t bytes = 1;
};
/// The character that begins at byte `at`, which is inside the text; nothing where none does: an encoding longer than need be, half of a
/// surrogate pair, a code point past the last one, the end of the text in its midst.
[[nodiscard]] std::optional<Utf8Character> utf8_character(std::string_view text, size_t at);
/// Whether all of a text is UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace tandem
