// LiveBoard: the curves of a run in the terminal while it runs, always in the same place.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "train/board.h"
#include "train/terminal.h"

namespace tandem::train {

/// Draws a board below what was printed last, and over it the next time. Other lines are printed between `erase` and `draw`; one unfinished
/// line may stand below the picture (a ProgressBar's).
class LiveBoard {
 public:
  /// `height` lines at most, and no more than two thirds of the terminal's.
  LiveBoard(std::ostream& out, Terminal terminal, int height = 16);
  LiveBoard(const LiveBoard&) = delete;
  LiveBoard& operator=(const LiveBoard&) = delete;

  /// Takes the picture away: what is printed next stands in its place. Nothing where there is none.
  void erase();
  /// Draws the curves in place of the last picture. Where there is no terminal: a plain line with the points that are new, if there are
  /// any, of each curve the last.
  void draw(const ProgressBoard& board);

 private:
  std::ostream& out_;
  Terminal terminal_;
  int height_;
  int drawn_ = 0;                        // lines of the picture that stands
  std::map<std::string, size_t> known_;  // points of each curve that a plain line has told
};

}  // namespace tandem::train
