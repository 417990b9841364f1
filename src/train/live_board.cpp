#include "train/live_board.h"

#include <algorithm>
#include <ostream>

#include "train/ticks.h"

namespace tandem::train {

LiveBoard::LiveBoard(std::ostream& out, Terminal terminal, int height)
    : out_(out), terminal_(terminal), height_(std::min(height, terminal.height * 2 / 3)) {}

void LiveBoard::erase() {
  if (drawn_ == 0) return;
  // To the picture's first line, then all below it is wiped out.
  out_ << "\r\x1b[" << drawn_ << "A\x1b[J" << std::flush;
  drawn_ = 0;
}

void LiveBoard::draw(const ProgressBoard& board) {
  if (terminal_.interactive) {
    const std::string picture = board.render(terminal_.width - 1, height_, {.unicode = terminal_.unicode, .color = terminal_.color});
    erase();
    out_ << picture << std::flush;
    drawn_ = static_cast<int>(std::count(picture.begin(), picture.end(), '\n'));
    return;
  }
  std::string line;
  double x = 0;
  for (const auto& [name, points] : board.series()) {
    size_t& known = known_[name];
    if (points.size() <= known) continue;
    known = points.size();
    x = std::max(x, points.back().x);
    line += (line.empty() ? "" : ", ") + name + " " + short_number(points.back().y);
  }
  if (!line.empty()) out_ << short_number(x) << ": " << line << std::endl;
}

}  // namespace tandem::train
