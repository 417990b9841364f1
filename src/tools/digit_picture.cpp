#include "tools/digit_picture.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "ops/creation.h"
#include "ops/interpolate.h"
#include "ops/operators.h"
#include "ops/padding.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"

namespace tandem::tools {
namespace {

constexpr double kInk = 0.3;         // the share of the range from which on a pixel counts as drawn
constexpr double kLeastRange = 0.1;  // less contrast than this is an empty sheet

/// The first and the last place where something is drawn, along one dimension.
std::pair<int64_t, int64_t> extent(const Tensor& drawn, int64_t other_dim) {
  const Tensor any = drawn.any(other_dim);
  int64_t first = -1, last = -1;
  for (int64_t i = 0; i < any.size(0); ++i) {
    if (!any.select(0, i).item<bool>()) continue;
    if (first < 0) first = i;
    last = i;
  }
  return {first, last};
}

/// The mean along the rim: what the paper is like.
double rim(const Tensor& x) {
  const int64_t h = x.size(0), w = x.size(1);
  const double sum = (x.select(0, 0).sum() + x.select(0, h - 1).sum() + x.select(1, 0).sum() + x.select(1, w - 1).sum()).item<double>();
  return sum / static_cast<double>(2 * (h + w));
}

}  // namespace

Tensor digit_picture(const Tensor& grey, int64_t size, int64_t margin) {
  Tensor x = grey.select(0, 0).to(kFloat32) / 255.;
  const double low = x.min().item<double>(), high = x.max().item<double>();
  if (high - low < kLeastRange) fail("nothing is drawn on this picture");
  x = (x - low) / (high - low);
  if (rim(x) > 0.5) x = 1. - x;
  const Tensor drawn = x > kInk;
  const auto [top, bottom] = extent(drawn, 1);
  const auto [left, right] = extent(drawn, 0);
  const Tensor cut = x.slice(0, top, bottom + 1).slice(1, left, right + 1).unsqueeze(0).unsqueeze(0);
  const int64_t h = cut.size(2), w = cut.size(3), room = size - 2 * margin;
  const double scale = static_cast<double>(room) / static_cast<double>(std::max(h, w));
  const auto scaled = [&](int64_t length) { return std::clamp<int64_t>(std::llround(static_cast<double>(length) * scale), 1, room); };
  const int64_t new_h = scaled(h), new_w = scaled(w);
  const Tensor small = interpolate(cut, {.size = Shape{new_h, new_w}, .mode = "bilinear", .antialias = true});
  const int64_t above = (size - new_h) / 2, before = (size - new_w) / 2;
  return pad(small, {before, size - new_w - before, above, size - new_h - above}).clamp(0, 1);
}

}  // namespace tandem::tools
