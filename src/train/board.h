// ProgressBoard: what a training run leaves to be plotted, as named series of points.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tandem::train {

/// x in epochs.
struct Point {
  double x = 0, y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

/// What a picture of curves may be made of.
struct PlotOptions {
  bool unicode = true;  // braille dots and lines; false: ASCII
  bool color = false;   // colours by a terminal's escape sequences; false: each curve has a sign of its own
};

/// Curves by name. The Trainer draws train_loss twice an epoch, and once an epoch what validation gives (val_loss, val_acc).
class ProgressBoard {
 public:
  /// Points by name, in the order in which the names came.
  using Series = std::map<std::string, std::vector<Point>>;

  /// Adds a point at the end of a series.
  void draw(const std::string& name, double x, double y) { series_[name].push_back({x, y}); }
  [[nodiscard]] const Series& series() const { return series_; }
  /// Puts other curves in their place.
  void set_series(Series series) { series_ = std::move(series); }
  /// The curves as text, `height` lines of `width` columns.
  [[nodiscard]] std::string render(int width = 80, int height = 16, PlotOptions options = {}) const;

 private:
  Series series_;
};

}  // namespace tandem::train
