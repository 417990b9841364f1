// Tensors from numbers: fill, arange, linspace, and the triangles of matrices. A thread writes elements a grid apart; strided outputs find
// each element's place by its number.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

struct Fill {
  void* out;
  DType dtype;
  Value value;
  Places<1> places;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[1];
    places(i, at);
    if (value.is_floating) store(out, dtype, at[0], value.floating);
    else store(out, dtype, at[0], value.integer);
  }
};

struct ArangeFloating {
  void* out;
  DType dtype;
  double start, step;

  TD_DEVICE void operator()(int64_t i) const { store(out, dtype, i, start + static_cast<double>(i) * step); }
};

/// Wraps rather than overflows.
struct ArangeInteger {
  void* out;
  DType dtype;
  uint64_t start, step;

  TD_DEVICE void operator()(int64_t i) const { store(out, dtype, i, static_cast<int64_t>(start + static_cast<uint64_t>(i) * step)); }
};

struct Linspace {
  void* out;
  DType dtype;
  int64_t n, half;
  double start, end, step;

  TD_DEVICE void operator()(int64_t i) const {
    store(out, dtype, i, i < half ? start + static_cast<double>(i) * step : end - static_cast<double>(n - 1 - i) * step);
  }
};

template <class T>
struct Triangle {
  T* out;
  const T* in;
  Places<2> places;
  Divide by_columns, by_rows;
  int64_t diagonal;
  bool upper;

  TD_DEVICE void operator()(int64_t i) const {
    const int64_t line = by_columns(i), column = i - line * by_columns.divisor, row = line - by_rows(line) * by_rows.divisor;
    int64_t at[2];
    places(i, at);
    const bool kept = upper ? column - row >= diagonal : column - row <= diagonal;
    out[at[0]] = kept ? in[at[1]] : T(0);
  }
};

}  // namespace

void fill(const Queue& queue, Out out, Value value) { for_each(queue, out.numel(), Fill{out.data, out.dtype, value, places_of(out)}); }

void arange(const Queue& queue, Out out, Value start, Value step) {
  if (is_floating(out.dtype)) {
    for_each(queue, out.numel(), ArangeFloating{out.data, out.dtype, start.to<double>(), step.to<double>()});
  } else {
    const auto first = static_cast<uint64_t>(start.to<int64_t>()), by = static_cast<uint64_t>(step.to<int64_t>());
    for_each(queue, out.numel(), ArangeInteger{out.data, out.dtype, first, by});
  }
}

void linspace(const Queue& queue, Out out, double start, double end) {
  const int64_t n = out.numel();
  double step = n > 1 ? (end - start) / static_cast<double>(n - 1) : 0;
  int64_t half = (n + 1) / 2;
  if (out.dtype == kFloat32 && n > 1) {  // rounded as PyTorch rounds: the bounds, their distance and the step
    const auto first = static_cast<float>(start), last = static_cast<float>(end);
    start = first, end = last, step = (last - first) / static_cast<float>(n - 1), half = n / 2;
  }
  for_each(queue, n, Linspace{out.data, out.dtype, n, half, start, end, step});
}

void triangle(const Queue& queue, Out out, View in, int64_t diagonal, bool upper) {
  const Places<2> places = places_of(out, in);
  const Divide by_columns(out.sizes[out.ndim - 1]), by_rows(out.sizes[out.ndim - 2]);
  visit_width(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, places.count, Triangle<T>{out.as<T>(), in.as<T>(), places, by_columns, by_rows, diagonal, upper});
  });
}

}  // namespace tandem::kernels::cuda
