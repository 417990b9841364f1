#include "base/utf8.h"

namespace tandem {

std::optional<Utf8Character> utf8_character(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(at);
  if (first < 0x80) return Utf8Character{first, 1};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes > text.size() - at) return {};
  uint32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return Utf8Character{code, bytes};
}

bool is_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto character = utf8_character(text, at);
    if (!character) return false;
    at += character->bytes;
  }
  return true;
}

}  // namespace tandem
