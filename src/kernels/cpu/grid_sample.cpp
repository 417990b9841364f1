// Reading images and volumes at points between their elements. An element's weight is the product over the axes of what grid_taps.h finds.
// The gradient of the grid shares out points, that of the input shares out channels, so no two threads write to one element. Half types are
// computed in their own precision, coordinates too, as PyTorch's CPU does: a coordinate rounded there reads other elements. Sums are not.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"
#include "kernels/grid_taps.h"
#include "kernels/rounded.h"

namespace tandem::kernels::cpu {
namespace {

/// What numbers of T are summed in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

constexpr int kMaxAxes = 3, kMaxTaps = 64;  // four along each axis

/// The elements that a point reads; those whose taps differ along one axis only lie `step` of it apart.
template <class T>
struct Point {
  int count = 1, step[kMaxAxes + 1] = {1};  // x first
  int64_t offset[kMaxTaps];
  T weight[kMaxTaps], others[kMaxAxes][kMaxTaps];  // others: the product of the weights along the other axes
  T slope[kMaxAxes][4], speed[kMaxAxes];

  /// sizes: those of the places, x last.
  Point(const T* coordinates, const int64_t* sizes, int axes, const GridSample& how) {
    offset[0] = 0;
    weight[0] = 1;
    int64_t stride = 1;
    for (int axis = 0; axis < axes; ++axis) {
      const int64_t size = sizes[axes - 1 - axis];
      const GridTaps<T> taps(coordinates[axis], size, how);
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
  Sum<T> slope_along(int axis, const T* plane) const {
    Sum<T> sum = 0;
    for (int block = 0; block < count; block += step[axis + 1])
      for (int first = block; first < block + step[axis]; ++first) {
        Sum<T> change = 0;
        for (int k = first, tap = 0; k < block + step[axis + 1]; k += step[axis], ++tap)
          change += Sum<T>(plane[offset[k]]) * Sum<T>(slope[axis][tap]);
        sum += change * Sum<T>(others[axis][first]);
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
          Sum<T> sum = 0;
          for (int k = 0; k < point.count; ++k) sum += Sum<T>(point.weight[k]) * Sum<T>(from[point.offset[k]]);
          *to = T(sum);
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
          Sum<T> sums[kMaxAxes] = {};
          const T* from = in.as<T>() + sample * g.channels * g.plane;
          const T* by = grad.as<T>() + sample * g.channels * g.points + i % g.points;
          for (int64_t c = 0; c < g.channels; ++c, from += g.plane, by += g.points)
            for (int axis = 0; axis < g.axes; ++axis) sums[axis] += point.slope_along(axis, from) * Sum<T>(*by);
          for (int axis = 0; axis < g.axes; ++axis) grid_grad.as<T>()[i * g.axes + axis] = T(sums[axis] * Sum<T>(point.speed[axis]));
        }
      });
    }
    if (!in_grad.data) return;
    constexpr int64_t kChannels = 8;  // that share the work of finding the taps
    const int64_t blocks = (g.channels + kChannels - 1) / kChannels;
    parallel_for(g.samples * blocks, 1, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        const int64_t sample = block / blocks, first = block % blocks * kChannels, last = std::min(g.channels, first + kChannels);
        auto* to = in_grad.as<Sum<T>>() + (sample * g.channels + first) * g.plane;
        const T* by = grad.as<T>() + (sample * g.channels + first) * g.points;
        std::fill_n(to, (last - first) * g.plane, Sum<T>(0));
        for (int64_t i = 0; i < g.points; ++i) {
          const Point<T> point(grid.as<T>() + (sample * g.points + i) * g.axes, g.sizes, g.axes, how);
          for (int64_t c = 0; c < last - first; ++c)
            for (int k = 0; k < point.count; ++k)
              to[c * g.plane + point.offset[k]] += Sum<T>(point.weight[k]) * Sum<T>(by[c * g.points + i]);
        }
      }
    });
  });
}

}  // namespace tandem::kernels::cpu
