#include "train/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "base/env.h"

namespace tandem::train {
namespace {

/// By the variables in the order in which the system itself reads them.
bool encoding_is_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    auto value = environment(variable);
    if (!value) continue;
    std::transform(value->begin(), value->end(), value->begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value->find("utf-8") != std::string::npos || value->find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  terminal.interactive = isatty(descriptor) == 1 && environment("TERM").value_or("dumb") != "dumb";
  winsize size = {};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) terminal.width = size.ws_col;
  if (size.ws_row > 0) terminal.height = size.ws_row;
  terminal.unicode = encoding_is_utf8();
  terminal.color = terminal.interactive && !environment("NO_COLOR");
  return terminal;
}

}  // namespace tandem::train
