#include "tools/work_bar.h"

#include <unistd.h>

#include <iostream>

#include "base/error.h"
#include "tools/file_texts.h"
#include "train/progress_bar.h"

namespace tandem::tools {

constexpr double kFirstDraw = 1, kBetweenDraws = 0.1;  // seconds
constexpr uint64_t kBar = 30;                          // columns

WorkBar::WorkBar(bool is_quiet) : terminal_(train::terminal_of(STDERR_FILENO)), began_(train::seconds_now()) {
  terminal_.interactive = terminal_.interactive && !is_quiet;
}

WorkBar::~WorkBar() {
  if (drawn_ > 0) std::cerr << "\r\x1b[K" << std::flush;
}

void WorkBar::show(uint64_t done_bytes, uint64_t all_bytes) {
  const double now = train::seconds_now();
  if (!terminal_.interactive || all_bytes == 0 || now - began_ < kFirstDraw || now - drawn_ < kBetweenDraws) return;
  drawn_ = now;
  const double share = static_cast<double>(done_bytes) / static_cast<double>(all_bytes);
  std::string line;
  for (uint64_t i = 0; i < kBar; ++i)
    line += static_cast<double>(i) < share * kBar ? (terminal_.unicode ? "━" : "=") : (terminal_.unicode ? "·" : ".");
  const double left = (now - began_) * (1 - share) / share;
  std::cerr << "\r\x1b[K" << line << "  " << size_text(done_bytes) << " of " << size_text(all_bytes) << "  " << train::clock_text(left)
            << " left" << std::flush;
}

}  // namespace tandem::tools
