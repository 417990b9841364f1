// A curve as it grows, and as few points as show its shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tandem::tools::board {

struct CurvePoint {
  int64_t step = 0;
  double time = 0;  // seconds since 1970
  float value = 0;  // may be nan or infinite
};

class Curve {
 public:
  /// Points are kept in the order of their steps; where a run begins again at an earlier step, what stood behind it is dropped, as what a
  /// resumed run does again.
  void add(CurvePoint point);
  [[nodiscard]] const std::vector<CurvePoint>& points() const { return points_; }
  /// At most `most` points (4 at the least): the first and the last, and of each piece between them the least and the greatest, so that no
  /// peak is lost. All of them where there are no more. Of the steps `from` to `to` and one point beyond each end, so that a line leads
  /// out.
  [[nodiscard]] std::vector<CurvePoint> thinned(size_t most, int64_t from = std::numeric_limits<int64_t>::min(),
                                                int64_t to = std::numeric_limits<int64_t>::max()) const;

 private:
  std::vector<CurvePoint> points_;
  size_t stride_ = 1, skipped_ = 0;  // of so many points one is kept: a curve does not grow for ever
};

}  // namespace tandem::tools::board
