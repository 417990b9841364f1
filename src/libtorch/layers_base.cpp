#include "libtorch/layers_base.h"

#include <cstring>

#include "ops/creation.h"

namespace torch::nn::detail {

Site making_site() {
  const auto& [file, line] = tandem::detail::statement_line;
  // make_shared and its like have a line of their own, which says nothing.
  return line == 0 || std::strstr(file, "/include/c++/") ? Site::none() : Site(file, line);
}

Text::Text(std::ostream& stream, const char* name) : stream_(stream) { stream_ << "torch::nn::" << name << '('; }

Text::~Text() { stream_ << ')'; }

void Text::put(bool value) { stream_ << (value ? "true" : "false"); }

}  // namespace torch::nn::detail
