#include "base/shape.h"

#include <ostream>

#include "base/error.h"

namespace tandem {

void append_text(std::string& out, const Shape& shape) {
  out += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += std::to_string(shape[i]);
  }
  out += ']';
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << str(shape); }

}  // namespace tandem
