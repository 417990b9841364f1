// Reading images and volumes at points between their elements. Along each axis a point has up to four taps - an index, a weight, and the
// weight's slope in the grid's coordinate - whatever the mode and the padding are; an element's weight is the product over the axes. The
// gradient of the grid shares out points, that of the input shares out channels, so no thread meets another. Half types are computed in
// their own precision, coordinates too, as PyTorch's CPU does: a coordinate rounded there reads other elements.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rounded.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {
namespace {

using std::fabs, std::floor, std::fmod, std::nearbyint;

constexpr int kMostAxes = 3, kMostTaps = 64;  // four along each axis

/// A place along an axis, and how it moves with the grid's coordinate.
template <class T>
struct Place {
  T at, slope;
};

template <class T>
Place<T> clipped(Place<T> p, int64_t size) {
  const T last = static_cast<T>(size - 1);
  if (!(p.at > 0)) return {0, 0};
  if (p.at >= last) return {last, 0};
  return p;
}

template <class T>
Place<T> reflected(Place<T> p, int64_t size, bool align_corners) {
  const T low = align_corners ? T(0) : T(-0.5), span = static_cast<T>(align_corners ? size - 1 : size);
  if (span == 0) return {0, 0};
  const T from_low = p.at - low, distance = fabs(from_low);
  const T rest = fmod(distance, span);
  const bool odd = fmod(floor(distance / span), T(2)) != 0;
  const T slope = from_low < 0 ? -p.slope : p.slope;
  return odd ? Place<T>{span - rest + low, -slope} : Place<T>{rest + low, slope};
}

template <class T>
Place<T> padded(Place<T> p, int64_t size, const GridSample& how) {
  if (how.padding == GridPadding::Zeros) return p;
  if (how.padding == GridPadding::Reflection) p = reflected(p, size, how.align_corners);
  return clipped(p, size);
}

/// The taps of a point along one axis, as far as they are inside. `slope` is that of the weight in the place, `speed` the place's in the
/// grid's coordinate.
template <class T>
struct Taps {
  int count = 0;
  int64_t index[4];
  T weight[4], slope[4], speed;

  void add(T at, int64_t size, T w, T s) {
    if (!(at >= 0 && at < static_cast<T>(size))) return;
    index[count] = static_cast<int64_t>(at);
    weight[count] = w;
    slope[count++] = s;
  }

  Taps(T coordinate, int64_t size, const GridSample& how) {
    speed = static_cast<T>(how.align_corners ? size - 1 : size) / 2;
    const Place<T> raw{
        how.align_corners ? (coordinate + 1) / 2 * static_cast<T>(size - 1) : ((coordinate + 1) * static_cast<T>(size) - 1) / 2, speed};
    if (how.mode == GridMode::Bicubic) {
      const T a = T(-0.75);
      const T below = floor(raw.at), t = raw.at - below;
      for (int i = 0; i < 4; ++i) {
        const T d = fabs(t - static_cast<T>(i - 1)), sign = t < static_cast<T>(i - 1) ? T(-1) : T(1);
        const bool near = i == 1 || i == 2;
        const T w = near ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
        const T s = near ? (3 * (a + 2) * d - 2 * (a + 3)) * d : ((3 * d - 10) * d + 8) * a;
        add(padded(Place<T>{below + static_cast<T>(i - 1), 0}, size, how).at, size, w, s * sign);
      }
      return;
    }
    const Place<T> place = padded(raw, size, how);
    if (how.mode == GridMode::Nearest) {
      add(nearbyint(place.at), size, 1, 0);
      return;
    }
    const T below = floor(place.at), t = place.at - below;
    add(below, size, 1 - t, -1);
    add(below + 1, size, t, 1);
    speed = place.slope;
  }
};

/// The elements that a point reads; those whose taps differ along one axis only lie `step` of it apart.
template <class T>
struct Point {
  int count = 1, step[kMostAxes + 1] = {1};  // x first
  int64_t offset[kMostTaps];
  T weight[kMostTaps], others[kMostAxes][kMostTaps];  // others: the product of the weights along the other axes
  T slope[kMostAxes][4], speed[kMostAxes];

  /// sizes: those of the places, x last.
  Point(const T* coordinates, const int64_t* sizes, int axes, const GridSample& how) {
    offset[0] = 0;
    weight[0] = 1;
    int64_t stride = 1;
    for (int axis = 0; axis < axes; ++axis) {
      const int64_t size = sizes[axes - 1 - axis];
      const Taps<T> taps(coordinates[axis], size, how);
      speed[axis] = taps.speed;
      std::copy_n(taps.slope, 4, slope[axis]);
      // Each element found so far becomes one for each tap; those of the first tap come last, in the place of what they are made from.
      for (int k = taps.count - 1; k >= 0; --k)
        for (int i = 0; i < count; ++i) {
          const int to = k * count + i;
          for (int other = 0; other < axis; ++other) others[other][to] = others[other][i] * taps.weight[k];
          others[axis][to] = weight[i];
          offset[to] = offset[i] + taps.index[k] * stride;
          weight[to] = weight[i] * taps.weight[k];
        }
      count *= taps.count;
      step[axis + 1] = count;
      stride *= size;
    }
  }

  /// How the value read from `plane` moves with the place along an axis.
  T slope_along(int axis, const T* plane) const {
    T sum = 0;
    for (int block = 0; block < count; block += step[axis + 1])
      for (int first = block; first < block + step[axis]; ++first) {
        T change = 0;
        for (int k = first, tap = 0; k < block + step[axis + 1]; k += step[axis], ++tap) change += plane[offset[k]] * slope[axis][tap];
        sum += change * others[axis][first];
      }
    return sum;
  }
};

struct Geometry {
  int axes;
  int64_t samples, channels, points, plane;
  const int64_t* sizes;

  Geometry(const View& in, const View& grid)
      : axes(in.ndim - 2), samples(in.sizes[0]), channels(in.sizes[1]), points(1), plane(1), sizes(in.sizes + 2) {
    for (int i = 0; i < axes; ++i) {
      points *= grid.sizes[1 + i];
      plane *= sizes[i];
    }
  }
};

}  // namespace

void grid_sample(const Queue& queue, Out out, View in, View grid, GridSample how) {
  const Geometry g(in, grid);
  visit_rounded(in.dtype, [&]<class T>(T) {
    parallel_for(g.samples * g.points, row_grain(32 + 4 * g.channels), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Point<T> point(grid.as<T>() + i * g.axes, g.sizes, g.axes, how);
        const int64_t sample = i / g.points;
        const T* from = in.as<T>() + sample * g.channels * g.plane;
        T* to = out.as<T>() + sample * g.channels * g.points + i % g.points;
        for (int64_t c = 0; c < g.channels; ++c, from += g.plane, to += g.points) {
          T sum = 0;
          for (int k = 0; k < point.count; ++k) sum += point.weight[k] * from[point.offset[k]];
          *to = sum;
        }
      }
    });
  });
}

void grid_sample_backward(const Queue& queue, Out in_grad, Out grid_grad, View grad, View in, View grid, GridSample how) {
  const Geometry g(in, grid);
  visit_rounded(in.dtype, [&]<class T>(T) {
    if (grid_grad.data) {
      parallel_for(g.samples * g.points, row_grain(32 + 8 * g.channels), queue.threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const Point<T> point(grid.as<T>() + i * g.axes, g.sizes, g.axes, how);
          const int64_t sample = i / g.points;
          T sums[kMostAxes] = {};
          const T* from = in.as<T>() + sample * g.channels * g.plane;
          const T* by = grad.as<T>() + sample * g.channels * g.points + i % g.points;
          for (int64_t c = 0; c < g.channels; ++c, from += g.plane, by += g.points)
            for (int axis = 0; axis < g.axes; ++axis) sums[axis] += point.slope_along(axis, from) * *by;
          for (int axis = 0; axis < g.axes; ++axis) grid_grad.as<T>()[i * g.axes + axis] = sums[axis] * point.speed[axis];
        }
      });
    }
    if (!in_grad.data) return;
    constexpr int64_t kChannels = 8;  // that share the work of finding the taps
    const int64_t blocks = (g.channels + kChannels - 1) / kChannels;
    parallel_for(g.samples * blocks, 1, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const int64_t sample = block / blocks, first = block % blocks * kChannels, last = std::min(g.channels, first + kChannels);
        T* to = in_grad.as<T>() + (sample * g.channels + first) * g.plane;
        const T* by = grad.as<T>() + (sample * g.channels + first) * g.points;
        std::fill_n(to, (last - first) * g.plane, T(0));
        for (int64_t i = 0; i < g.points; ++i) {
          const Point<T> point(grid.as<T>() + (sample * g.points + i) * g.axes, g.sizes, g.axes, how);
          for (int64_t c = 0; c < last - first; ++c)
            for (int k = 0; k < point.count; ++k) to[c * g.plane + point.offset[k]] += point.weight[k] * by[c * g.points + i];
        }
      }
    });
  });
}

}  // namespace tandem::kernels::cpu
