// Reading images and volumes at points between their elements. Along each axis a point has up to four taps - an index, a weight, and the
// weight's slope in the grid's coordinate - whatever the mode and the padding are; an element's weight is the product over the axes. The
// gradient of the grid shares out points, that of the input shares out channels, so no thread meets another.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {
namespace {

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
  const T from_low = p.at - low, distance = std::fabs(from_low);
  const T rest = std::fmod(distance, span);
  const bool odd = std::fmod(std::floor(distance / span), T(2)) != 0;
  const T slope = from_low < 0 ? -p.slope : p.slope;
  return odd ? Place<T>{span - rest + low, -slope} : Place<T>{rest + low, slope};
}

template <class T>
Place<T> padded(Place<T> p, int64_t size, const GridSample& how) {
  if (how.padding == GridPadding::Zeros) return p;
  if (how.padding == GridPadding::Reflection) p = reflected(p, size, how.align_corners);
  return clipped(p, size);
}

/// The taps of a point along one axis, as far as they are inside.
template <class T>
struct Taps {
  int count = 0;
  int64_t index[4];
  T weight[4], slope[4];

  void add(T at, int64_t size, T w, T s) {
    if (!(at >= 0 && at < static_cast<T>(size))) return;
    index[count] = static_cast<int64_t>(at);
    weight[count] = w;
    slope[count++] = s;
  }

  Taps(T coordinate, int64_t size, const GridSample& how) {
    const T slope = static_cast<T>(how.align_corners ? size - 1 : size) / 2;
    const Place<T> raw{
        how.align_corners ? (coordinate + 1) / 2 * static_cast<T>(size - 1) : ((coordinate + 1) * static_cast<T>(size) - 1) / 2, slope};
    if (how.mode == GridMode::Bicubic) {
      constexpr T a = T(-0.75);
      const T floor = std::floor(raw.at), t = raw.at - floor;
      for (int i = 0; i < 4; ++i) {
        const T d = std::fabs(t - static_cast<T>(i - 1)), sign = t < static_cast<T>(i - 1) ? -slope : slope;
        const bool near = i == 1 || i == 2;
        const T w = near ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((d - 5) * d + 8) * d * a - 4 * a;
        const T s = near ? (3 * (a + 2) * d - 2 * (a + 3)) * d : ((3 * d - 10) * d + 8) * a;
        add(padded(Place<T>{floor + static_cast<T>(i - 1), 0}, size, how).at, size, w, s * sign);
      }
      return;
    }
    const Place<T> place = padded(raw, size, how);
    if (how.mode == GridMode::Nearest) {
      add(std::nearbyint(place.at), size, 1, 0);
      return;
    }
    const T floor = std::floor(place.at), t = place.at - floor;
    add(floor, size, 1 - t, -place.slope);
    add(floor + 1, size, t, place.slope);
  }
};

/// The elements that a point reads.
template <class T>
struct Point {
  int count = 0;
  int64_t offset[kMostTaps];
  T weight[kMostTaps], slope[kMostAxes][kMostTaps];  // slope: in each of the grid's coordinates, x first

  /// sizes: those of the places, x last.
  Point(const T* coordinates, const int64_t* sizes, int axes, const GridSample& how) {
    count = 1;
    offset[0] = 0;
    weight[0] = 1;
    int64_t stride = 1;
    for (int axis = 0; axis < axes; ++axis) {
      const int64_t size = sizes[axes - 1 - axis];
      const Taps<T> taps(coordinates[axis], size, how);
      // Each element found so far becomes one for each tap; those of the first tap come last, in the place of what they are made from.
      for (int k = taps.count - 1; k >= 0; --k)
        for (int i = 0; i < count; ++i) {
          const int to = k * count + i;
          for (int other = 0; other < axis; ++other) slope[other][to] = slope[other][i] * taps.weight[k];
          slope[axis][to] = weight[i] * taps.slope[k];
          offset[to] = offset[i] + taps.index[k] * stride;
          weight[to] = weight[i] * taps.weight[k];
        }
      count *= taps.count;
      stride *= size;
    }
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
  visit_compute(in.dtype, [&]<class T>(T) {
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
  visit_compute(in.dtype, [&]<class T>(T) {
    if (grid_grad.data) {
      parallel_for(g.samples * g.points, row_grain(32 + 8 * g.channels), queue.threads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const Point<T> point(grid.as<T>() + i * g.axes, g.sizes, g.axes, how);
          const int64_t sample = i / g.points;
          T sums[kMostAxes] = {};
          const T* from = in.as<T>() + sample * g.channels * g.plane;
          const T* by = grad.as<T>() + sample * g.channels * g.points + i % g.points;
          for (int64_t c = 0; c < g.channels; ++c, from += g.plane, by += g.points)
            for (int k = 0; k < point.count; ++k)
              for (int axis = 0; axis < g.axes; ++axis) sums[axis] += *by * from[point.offset[k]] * point.slope[axis][k];
          for (int axis = 0; axis < g.axes; ++axis) grid_grad.as<T>()[i * g.axes + axis] = sums[axis];
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
