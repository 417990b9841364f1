// Reading images and volumes at points between their elements. A thread takes a point and goes over channels, finding the taps once; the
// points are shared out several times where they are too few for a GPU. The gradient of the grid is summed by one thread a point, that of
// the input by atomic additions, or by one thread a plane where algorithms have to be deterministic. Half types are computed in their own
// precision, as on the CPU: a coordinate rounded there reads other elements. Sums are not.
#include <algorithm>

#include "base/backends.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/grid_taps.h"
#include "kernels/rounded.h"

namespace tandem::kernels::cuda {
namespace {

/// What numbers of T are summed in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

constexpr int kAxes = 3;  // x, y, z; images have one place along z

struct Geometry {
  int axes;
  int64_t samples, channels, points = 1, plane = 1;
  int64_t size[kAxes] = {1, 1, 1}, stride[kAxes] = {};  // x first
  int64_t chunk;                                        // channels that a thread goes over
  GridSample how;
  Indices<3> items;  // sample, chunk of channels, point

  Geometry(const View& in, const View& grid, const GridSample& how)
      : axes(in.ndim - 2), samples(in.sizes[0]), channels(in.sizes[1]), how(how), items(kNothing) {
    for (int axis = 0; axis < axes; ++axis) {
      size[axis] = in.sizes[in.ndim - 1 - axis];
      stride[axis] = plane;
      plane *= size[axis];
      points *= grid.sizes[1 + axis];
    }
    constexpr int64_t wanted = 1 << 16;  // threads
    const int64_t all = std::max<int64_t>(1, samples * points);
    const int64_t chunks = std::clamp<int64_t>(wanted / all, 1, std::max<int64_t>(1, channels));
    chunk = (channels + chunks - 1) / chunks;
    const int64_t sizes[3] = {samples, chunk == 0 ? 0 : (channels + chunk - 1) / chunk, points};
    items = Indices<3>(sizes);
  }

 private:
  static constexpr int64_t kNothing[3] = {};
};

/// The elements that a point reads.
template <class T>
struct Point {
  GridTaps<T> taps[kAxes];
  const Geometry& g;

  TD_DEVICE Point(const Geometry& g, const T* grid, int64_t number) : g(g) {
    for (int axis = 0; axis < kAxes; ++axis) {
      if (axis < g.axes) {
        taps[axis] = GridTaps<T>(grid[number * g.axes + axis], g.size[axis], g.how);
      } else {
        taps[axis].count = 1;
        taps[axis].index[0] = 0;
        taps[axis].weight[0] = 1;
      }
    }
  }

  /// f(offset in a plane, weight) for all of them.
  template <class F>
  TD_DEVICE void each(F&& f) const {
    for (int z = 0; z < taps[2].count; ++z)
      for (int y = 0; y < taps[1].count; ++y) {
        const int64_t row = taps[2].index[z] * g.stride[2] + taps[1].index[y] * g.stride[1];
        for (int x = 0; x < taps[0].count; ++x) f(row + taps[0].index[x], taps[0].weight[x] * taps[1].weight[y] * taps[2].weight[z]);
      }
  }

  /// How the value read from `plane` moves with the place along an axis.
  TD_DEVICE Sum<T> slope_along(int axis, const T* plane) const {
    const int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
    const GridTaps<T>&along = taps[axis], &in = taps[inner], &out = taps[outer];
    Sum<T> sum = 0;
    for (int o = 0; o < out.count; ++o)
      for (int i = 0; i < in.count; ++i) {
        const T* const line = plane + out.index[o] * g.stride[outer] + in.index[i] * g.stride[inner];
        Sum<T> change = 0;
        for (int k = 0; k < along.count; ++k) change += Sum<T>(line[along.index[k] * g.stride[axis]]) * Sum<T>(along.slope[k]);
        sum += change * Sum<T>(in.weight[i] * out.weight[o]);
      }
    return sum;
  }
};

template <class T>
struct Sample {
  Geometry g;
  T* out;
  const T *in, *grid;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[3];
    g.items(i, at);
    const Point<T> point(g, grid, at[0] * g.points + at[2]);
    const int64_t first = at[1] * g.chunk, last = first + g.chunk < g.channels ? first + g.chunk : g.channels;
    for (int64_t c = first; c < last; ++c) {
      const T* const plane = in + (at[0] * g.channels + c) * g.plane;
      Sum<T> sum = 0;
      point.each([&](int64_t offset, T weight) { sum += Sum<T>(weight) * Sum<T>(plane[offset]); });
      out[(at[0] * g.channels + c) * g.points + at[2]] = T(sum);
    }
  }
};

template <class T>
struct GridGradient {
  Geometry g;
  T* out;
  const T *grad, *in, *grid;

  TD_DEVICE void operator()(int64_t i) const {
    const Point<T> point(g, grid, i);
    const int64_t sample = i / g.points, number = i - sample * g.points;
    for (int axis = 0; axis < g.axes; ++axis) {
      Sum<T> sum = 0;
      for (int64_t c = sample * g.channels; c < (sample + 1) * g.channels; ++c)
        sum += point.slope_along(axis, in + c * g.plane) * Sum<T>(grad[c * g.points + number]);
      out[i * g.axes + axis] = T(sum * Sum<T>(point.taps[axis].speed));
    }
  }
};

template <class T>
struct InputGradient {
  Geometry g;
  Sum<T>* out;
  const T *grad, *grid;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[3];
    g.items(i, at);
    const Point<T> point(g, grid, at[0] * g.points + at[2]);
    const int64_t first = at[1] * g.chunk, last = first + g.chunk < g.channels ? first + g.chunk : g.channels;
    for (int64_t c = first; c < last; ++c) {
      Sum<T>* const plane = out + (at[0] * g.channels + c) * g.plane;
      const auto by = Sum<T>(grad[(at[0] * g.channels + c) * g.points + at[2]]);
      point.each([&](int64_t offset, T weight) { atomic_add(plane + offset, Sum<T>(weight) * by); });
    }
  }
};

/// The same in the order of the points, for one plane of the input.
template <class T>
struct InputGradientInOrder {
  Geometry g;
  Sum<T>* out;
  const T *grad, *grid;

  TD_DEVICE void operator()(int64_t i) const {
    const int64_t sample = i / g.channels;
    for (int64_t p = 0; p < g.points; ++p) {
      const auto by = Sum<T>(grad[i * g.points + p]);
      Point<T>(g, grid, sample * g.points + p).each([&](int64_t offset, T weight) { out[i * g.plane + offset] += Sum<T>(weight) * by; });
    }
  }
};

}  // namespace

void grid_sample(const Queue& queue, Out out, View in, View grid, GridSample how) {
  const Geometry g(in, grid, how);
  visit_rounded(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, g.items.count, Sample<T>{g, out.as<T>(), in.as<T>(), grid.as<T>()});
  });
}

void grid_sample_backward(const Queue& queue, Out in_grad, Out grid_grad, View grad, View in, View grid, GridSample how) {
  const Geometry g(in, grid, how);
  if (in_grad.data) fill(queue, in_grad, Value{});
  visit_rounded(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    if (grid_grad.data)
      for_each(queue, g.samples * g.points, GridGradient<T>{g, grid_grad.as<T>(), grad.as<T>(), in.as<T>(), grid.as<T>()});
    if (!in_grad.data) return;
    if (are_deterministic_algorithms_enabled())
      for_each(queue, g.samples * g.channels, InputGradientInOrder<T>{g, in_grad.as<Sum<T>>(), grad.as<T>(), grid.as<T>()});
    else for_each(queue, g.items.count, InputGradient<T>{g, in_grad.as<Sum<T>>(), grad.as<T>(), grid.as<T>()});
  });
}

}  // namespace tandem::kernels::cuda
