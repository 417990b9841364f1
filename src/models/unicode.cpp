#include "models/unicode.h"

#include <algorithm>

namespace tandem::models::unicode {
namespace {

bool contains(std::span<const uint32_t> ranges, uint32_t code) {
  // How many bounds lie at or below the code point: an odd number where it is inside a range, or its last one.
  const auto after = std::ranges::upper_bound(ranges, code);
  const auto below = after - ranges.begin();
  return below % 2 == 1 || (below > 0 && ranges[static_cast<size_t>(below) - 1] == code);
}

}  // namespace

Character character_at(std::string_view text, size_t at) { return utf8_character(text, at).value_or(Character{0xfffd, 1}); }

size_t unfinished_bytes(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<uint8_t>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;  // inside of a character
    const size_t bytes = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return bytes > back && byte <= 0xf4 ? back : 0;
  }
  return 0;
}

std::string without_invalid(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.bytes > 1 || static_cast<uint8_t>(text[at]) < 0x80) {
      out += text.substr(at, character.bytes);
      at += character.bytes;
      continue;
    }
    out += kReplacement;
    // What could still have become a character is one run.
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const uint8_t first = byte(at);
    const size_t bytes = first < 0xc2 || first > 0xf4 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    const uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80, most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    size_t end = at + 1;
    if (bytes > 1 && end < text.size() && byte(end) >= least && byte(end) <= most)
      for (++end; end < std::min(text.size(), at + bytes - 1) && (byte(end) & 0xc0) == 0x80;) ++end;
    at = end;
  }
  return out;
}

Kind kind_of(uint32_t code) {
  if (code < 0x80) {
    const auto is = [&](uint32_t first, uint32_t last) { return code >= first && code <= last; };
    if (is('a', 'z') || is('A', 'Z')) return Kind::Letter;
    if (is('0', '9')) return Kind::Number;
    return code == ' ' || is('\t', '\r') ? Kind::Space : Kind::Other;
  }
  if (contains(kLetters, code)) return Kind::Letter;
  if (contains(kNumbers, code)) return Kind::Number;
  return contains(kSpaces, code) ? Kind::Space : Kind::Other;
}

}  // namespace tandem::models::unicode
