#include "tools/board/curve.h"

#include <algorithm>
#include <cmath>

namespace tandem::tools::board {
namespace {

constexpr size_t kMostPoints = size_t{1} << 22;

}  // namespace

void Curve::add(CurvePoint point) {
  if (!points_.empty() && points_.back().step > point.step)
    while (!points_.empty() && points_.back().step >= point.step) points_.pop_back();
  if (++skipped_ < stride_) return;
  skipped_ = 0;
  points_.push_back(point);
  if (points_.size() < kMostPoints) return;
  for (size_t i = 0; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
  points_.resize(points_.size() / 2);
  stride_ *= 2;
}

std::vector<CurvePoint> Curve::thinned(size_t most, int64_t from, int64_t to) const {
  most = std::max<size_t>(most, 4);
  auto first = std::partition_point(points_.begin(), points_.end(), [&](const CurvePoint& point) { return point.step < from; });
  auto last = std::partition_point(first, points_.end(), [&](const CurvePoint& point) { return point.step <= to; });
  if (first != points_.begin()) --first;
  if (last != points_.end()) ++last;
  const auto count = static_cast<size_t>(last - first);
  if (count <= most) return {first, last};
  std::vector<CurvePoint> few = {*first};
  few.reserve(most);
  const size_t pieces = (most - 2) / 2, inner = count - 2;
  // What is no number is neither the least nor the greatest, but shows where there is nothing else.
  const auto less = [](const CurvePoint& a, const CurvePoint& b) {
    const bool a_finite = std::isfinite(a.value), b_finite = std::isfinite(b.value);
    return a_finite && b_finite ? a.value < b.value : a_finite;
  };
  const auto greater_last = [](const CurvePoint& a, const CurvePoint& b) {
    const bool a_finite = std::isfinite(a.value), b_finite = std::isfinite(b.value);
    return a_finite && b_finite ? a.value < b.value : b_finite;
  };
  for (size_t piece = 0; piece < pieces; ++piece) {
    const auto begin = first + 1 + static_cast<std::ptrdiff_t>(inner * piece / pieces);
    const auto end = first + 1 + static_cast<std::ptrdiff_t>(inner * (piece + 1) / pieces);
    const auto least = std::min_element(begin, end, less), greatest = std::max_element(begin, end, greater_last);
    few.push_back(*std::min(least, greatest));
    if (least != greatest) few.push_back(*std::max(least, greatest));
  }
  few.push_back(*(last - 1));
  return few;
}

}  // namespace tandem::tools::board
