// Where a grid's points lie: along each axis a point has up to four taps - an index, a weight, and the weight's slope in the grid's
// coordinate - whatever the mode and the padding are. The same in every backend.
#pragma once

#include <cmath>

#include "kernels/math.h"
#include "kernels/table.h"

namespace tandem::kernels {

/// A place along an axis, and how it moves with the grid's coordinate.
template <class T>
struct GridPlace {
  T at, slope;
};

/// The taps of a point along one axis, as far as they are inside. `slope` is that of the weight in the place, `speed` the place's in the
/// grid's coordinate.
template <class T>
struct GridTaps {
  int count = 0;
  int64_t index[4];
  T weight[4], slope[4] = {}, speed;

  GridTaps() = default;
  TD_HOST_DEVICE GridTaps(T coordinate, int64_t size, const GridSample& how) {
    using std::fabs, std::floor, std::nearbyint;
    speed = static_cast<T>(how.align_corners ? size - 1 : size) / 2;
    const GridPlace<T> raw{
        how.align_corners ? (coordinate + 1) / 2 * static_cast<T>(size - 1) : ((coordinate + 1) * static_cast<T>(size) - 1) / 2, speed};
    if (how.mode == GridMode::Bicubic) {
      const T a = T(-0.75);
      const T below = floor(raw.at), t = raw.at - below;
      for (int i = 0; i < 4; ++i) {
        const T d = fabs(t - static_cast<T>(i - 1)), sign = t < static_cast<T>(i - 1) ? T(-1) : T(1);
        const bool near = i == 1 || i == 2;
        const T w = near ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
        const T s = near ? (3 * (a + 2) * d - 2 * (a + 3)) * d : ((3 * d - 10) * d + 8) * a;
        add(padded(GridPlace<T>{below + static_cast<T>(i - 1), 0}, size, how).at, size, w, s * sign);
      }
      return;
    }
    const GridPlace<T> place = padded(raw, size, how);
    if (how.mode == GridMode::Nearest) {
      add(nearbyint(place.at), size, 1, 0);
      return;
    }
    const T below = floor(place.at), t = place.at - below;
    add(below, size, 1 - t, -1);
    add(below + 1, size, t, 1);
    speed = place.slope;
  }

 private:
  TD_HOST_DEVICE void add(T at, int64_t size, T w, T s) {
    if (!(at >= 0 && at < static_cast<T>(size))) return;
    index[count] = static_cast<int64_t>(at);
    weight[count] = w;
    slope[count++] = s;
  }
  TD_HOST_DEVICE static GridPlace<T> clipped(GridPlace<T> p, int64_t size) {
    const T last = static_cast<T>(size - 1);
    if (!(p.at > 0)) return {0, 0};
    if (p.at >= last) return {last, 0};
    return p;
  }

  TD_HOST_DEVICE static GridPlace<T> reflected(GridPlace<T> p, int64_t size, bool align_corners) {
    using std::fabs, std::floor, std::fmod;
    const T low = align_corners ? T(0) : T(-0.5), span = static_cast<T>(align_corners ? size - 1 : size);
    if (span == 0) return {0, 0};
    const T from_low = p.at - low, distance = fabs(from_low);
    const T rest = fmod(distance, span);
    const bool odd = fmod(floor(distance / span), T(2)) != 0;
    const T slope = from_low < 0 ? -p.slope : p.slope;
    return odd ? GridPlace<T>{span - rest + low, -slope} : GridPlace<T>{rest + low, slope};
  }

  TD_HOST_DEVICE static GridPlace<T> padded(GridPlace<T> p, int64_t size, const GridSample& how) {
    if (how.padding == GridPadding::Zeros) return p;
    if (how.padding == GridPadding::Reflection) p = reflected(p, size, how.align_corners);
    return clipped(p, size);
  }
};

}  // namespace tandem::kernels
