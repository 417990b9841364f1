#include "base/error.h"

#include <charconv>

namespace tandem {

void append_text(std::string& out, double part) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, part).ptr;
  out.append(text, end);
}

}  // namespace tandem
