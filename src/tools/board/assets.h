// The page's files, as they are in page/, inside the program.
#pragma once

#include <string_view>

namespace tandem::tools::board {

struct Asset {
  std::string_view name;  // "page.css"
  std::string_view type;  // "text/css"
  std::string_view text;
};
/// nullptr where there is none of that name; "" is the page itself.
[[nodiscard]] const Asset* asset(std::string_view name);

}  // namespace tandem::tools::board
