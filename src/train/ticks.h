// Round numbers along an axis, for the curves in the terminal and in reports.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "train/board.h"

namespace tandem::train {

struct Tick {
  double at = 0;
  std::string label;
};

/// The multiples of a step of 1, 2 or 5 times a power of ten that lie in [low, high]: at most `most`, and as many as that allows. Labels
/// have the same number of decimals. Nothing unless low < high are finite and most is positive.
[[nodiscard]] std::vector<Tick> ticks(double low, double high, int most);

/// Whether a point can be drawn: differences between such numbers are finite, too.
[[nodiscard]] bool finite(const Point& point);

/// A number in few characters: 0.0123, 12.3, 1.2e-05, 3e+06.
[[nodiscard]] std::string short_number(double value);
/// With `decimals` digits behind the point, and no minus before zeros: 0.0500, -1.2500.
[[nodiscard]] std::string fixed_number(double value, int decimals);

/// The lowest and highest number of an axis; low > high where there are none.
struct AxisRange {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value);
  /// For a curve that is one number all along: room on both sides, 0 … 1 for a share, and nothing below 0 that the curve has not. 0 … 1
  /// where there are no numbers.
  [[nodiscard]] AxisRange opened() const;
};

}  // namespace tandem::train
