#include "base/format.h"

#include <cstdarg>
#include <cstdio>

namespace tandem::detail {

std::string formatted(const char* pattern, ...) {
  char text[400];
  std::va_list arguments;
  va_start(arguments, pattern);
  (void)std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

std::string with_commas(std::string digits) {
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string padded(const std::string& text, size_t width, bool at_right) {
  const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return at_right ? blanks + text : text + blanks;
}

// 48 bits, the version in four, 12 bits; the variant (binary 10), 14 and 48 bits.
std::string uuid_text(uint64_t first, uint64_t second) {
  return formatted("%08x-%04x-8%03x-%04x-%012llx", static_cast<unsigned>(first >> 32), static_cast<unsigned>(first >> 16 & 0xffff),
                   static_cast<unsigned>(first & 0xfff), static_cast<unsigned>((second >> 48 & 0x3fff) | 0x8000),
                   static_cast<unsigned long long>(second & 0xffffffffffffU));
}

}  // namespace tandem::detail
