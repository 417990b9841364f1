#include "tools/board/assets.h"

#include <algorithm>
#include <array>

#define TD_ASSET(name)                         \
  extern "C" const char tandem_board_##name[]; \
  extern "C" const char tandem_board_##name##_end[]
TD_ASSET(html);
TD_ASSET(css);
TD_ASSET(js);
TD_ASSET(tabs);
#undef TD_ASSET

namespace tandem::tools::board {

const Asset* asset(std::string_view name) {
  static const std::array all = {
      Asset{"", "text/html; charset=utf-8", {tandem_board_html, tandem_board_html_end}},
      Asset{"page.css", "text/css; charset=utf-8", {tandem_board_css, tandem_board_css_end}},
      Asset{"page.js", "text/javascript; charset=utf-8", {tandem_board_js, tandem_board_js_end}},
      Asset{"tabs.js", "text/javascript; charset=utf-8", {tandem_board_tabs, tandem_board_tabs_end}},
  };
  const auto found = std::find_if(all.begin(), all.end(), [&](const Asset& asset) { return asset.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tandem::tools::board
