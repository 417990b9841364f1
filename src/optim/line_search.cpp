#include "optim/line_search.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tandem::optim::detail {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;

/// Whether the loss has fallen too little for the way gone.
bool too_high(const LinePoint& point, const LinePoint& start) { return point.loss > start.loss + kDecrease * point.t * start.slope; }
bool flat_enough(const LinePoint& point, const LinePoint& start) { return std::abs(point.slope) <= -kCurvature * start.slope; }

/// The next point to try within a bracket. Kept away from its ends where the last one, too, was close to one: else the search could creep.
double trial(const std::array<LinePoint, 2>& bracket, bool& crept) {
  const double low = std::min(bracket[0].t, bracket[1].t), high = std::max(bracket[0].t, bracket[1].t), margin = 0.1 * (high - low);
  const double t = cubic_minimum(bracket[0], bracket[1], low, high);
  if (std::min(high - t, t - low) >= margin) {
    crept = false;
    return t;
  }
  if (!crept && t < high && t > low) {
    crept = true;
    return t;
  }
  crept = false;
  return std::abs(t - high) < std::abs(t - low) ? high - margin : low + margin;
}

}  // namespace

double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const LinePoint &near = a.t <= b.t ? a : b, &far = a.t <= b.t ? b : a;
  const double t = far.t - (far.t - near.t) * ((far.slope + d2 - d1) / (far.slope - near.slope + 2 * d2));
  return std::min(std::max(t, low), high);
}

LineSearchResult strong_wolfe(const std::function<LinePoint(double t)>& evaluate, const LinePoint& start, double first_t,
                              double direction_size, double tolerance, int64_t max_evaluations) {
  LinePoint before = start, now = evaluate(first_t);
  int64_t evaluations = 1, iteration = 0;

  // Further and further, until two points have a good one between them.
  std::array<LinePoint, 2> bracket;
  for (;; ++iteration) {
    if (iteration >= max_evaluations) {
      bracket = {start, now};
      break;
    }
    if (too_high(now, start) || (iteration > 1 && now.loss >= before.loss)) {
      bracket = {before, now};
      break;
    }
    if (flat_enough(now, start)) return {now, evaluations};
    if (now.slope >= 0) {
      bracket = {before, now};
      break;
    }
    const double t = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
    before = std::move(now);
    now = evaluate(t);
    ++evaluations;
  }

  // The bracket shrinks around it.
  size_t low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
  bool crept = false;
  for (; iteration < max_evaluations; ++iteration) {
    if (std::abs(bracket[1].t - bracket[0].t) * direction_size < tolerance) break;
    LinePoint point = evaluate(trial(bracket, crept));
    ++evaluations;
    if (too_high(point, start) || point.loss >= bracket[low].loss) {
      bracket[1 - low] = std::move(point);
      low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
      continue;
    }
    const bool done = flat_enough(point, start);
    if (!done && point.slope * (bracket[1 - low].t - bracket[low].t) >= 0) bracket[1 - low] = bracket[low];
    bracket[low] = std::move(point);
    if (done) break;
  }
  return {bracket[low], evaluations};
}

}  // namespace tandem::optim::detail
