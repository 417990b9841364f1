// Curves as SVG, for reports: axes, lines, a label at each line's end, and the values for a pointer to read.
#pragma once

#include <string>
#include <vector>

#include "train/board.h"

namespace tandem::train::detail {

struct Line {
  std::string name;
  std::vector<Point> points;  // those that are no finite numbers break the line
  int color = 0;              // of the page's, counted from 0
  bool dashed = false;
  std::string label = {};  // at the line's end; the name unless given
};

struct Chart {
  std::string title;
  std::string x_name;  // "epoch"
  std::vector<Line> lines;
  bool from_zero = false;  // the y axis begins at 0
};

/// The chart as a <figure>. Colours and type are the page's (report_assets.h); without its script, points tell their values as titles.
[[nodiscard]] std::string svg(const Chart& chart);

}  // namespace tandem::train::detail
