// What the other end of an output is: a terminal of some width, or a file or pipe.
#pragma once

namespace tandem::train {

/// What a stream that is written to can show.
struct Terminal {
  bool interactive = false;  // a terminal that can draw over its line; false: plain lines
  int width = 80;            // columns
  bool unicode = false;      // the environment's encoding is UTF-8
  bool color = false;        // colours are wanted: a terminal, and NO_COLOR (no-color.org) is not set
  int height = 24;           // lines
};

/// Of an open file descriptor, such as 2. A terminal that calls itself "dumb" counts as none.
[[nodiscard]] Terminal terminal_of(int descriptor);

}  // namespace tandem::train
