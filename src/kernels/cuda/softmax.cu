// Softmax and log-softmax over rows, and their gradients. A total is the maximum so far and the sum of the exponentials from it, so that a
// row is read once for both, and once more, mostly from a cache, for the result.
#include <limits>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/reduction.cuh"

namespace tandem::kernels::cuda {
namespace {

/// The maximum of some numbers, nan apart, and the sum of exp(x - shift): shift is the maximum, or 0 where that is -infinity.
template <class C>
struct Exponentials {
  C most, sum;

  TD_DEVICE C shift() const { return most == -std::numeric_limits<C>::infinity() ? C(0) : most; }
};

template <class C>
struct Softmax {
  using Total = Exponentials<C>;
  static constexpr int kArrays = 2;  // out, in
  static constexpr int kMost = 1024;
  Floats<C> out, in;
  Places<2> rows;
  bool log;

  struct Settings {
    C most, by;  // the factor, or the logarithm of the sum
  };

  TD_DEVICE bool gathers() const { return true; }
  TD_DEVICE Total none() const { return {-std::numeric_limits<C>::infinity(), C(0)}; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[2]) const { rows(row, at); }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[2][n], int64_t, int) const {
    C x[n];
    in.read(at[1], x);
    Total more = none();
    for (int k = 0; k < n; ++k) more.most = x[k] > more.most ? x[k] : more.most;
    if (more.most > total.most) {
      total.sum *= math::exp(total.most - more.most);
      total.most = more.most;
    }
    for (int k = 0; k < n; ++k) total.sum += math::exp(x[k] - total.shift());
  }
  TD_DEVICE Total combine(const Total& a, const Total& b) const {
    Total both{a.most > b.most ? a.most : b.most, C(0)};
    both.sum = a.sum * math::exp(a.most - both.shift()) + b.sum * math::exp(b.most - both.shift());
    return both;
  }
  TD_DEVICE void write(int64_t, const Total&) const {}
  TD_DEVICE Settings settings(int64_t, const Total& total) const { return {total.most, log ? math::log(total.sum) : 1 / total.sum}; }
  template <int n>
  TD_DEVICE void put(const Settings& row, const int64_t (&at)[2][n], int64_t, int) const {
    C x[n];
    in.read(at[1], x);
    for (int k = 0; k < n; ++k) x[k] = log ? x[k] - row.most - row.by : math::exp(x[k] - row.most) * row.by;
    out.write(at[0], x);
  }
};

template <class C>
struct SoftmaxGradient {
  using Total = C;
  static constexpr int kArrays = 3;  // out, grad, y
  static constexpr int kMost = 1024;
  Floats<C> out, grad, y;
  Places<3> rows;
  bool log;

  TD_DEVICE bool gathers() const { return true; }
  TD_DEVICE Total none() const { return 0; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[3]) const { rows(row, at); }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[3][n], int64_t, int) const {
    C g[n];
    grad.read(at[1], g);
    if (!log) {
      C v[n];
      y.read(at[2], v);
      for (int k = 0; k < n; ++k) g[k] *= v[k];
    }
    for (int k = 1; k < n; ++k) g[0] += g[k];
    total += g[0];
  }
  TD_DEVICE Total combine(Total a, Total b) const { return a + b; }
  TD_DEVICE void write(int64_t, Total) const {}
  TD_DEVICE C settings(int64_t, Total total) const { return total; }
  template <int n>
  TD_DEVICE void put(C sum, const int64_t (&at)[3][n], int64_t, int) const {
    C g[n], v[n];
    grad.read(at[1], g);
    y.read(at[2], v);
    for (int k = 0; k < n; ++k) g[k] = log ? g[k] - math::exp(v[k]) * sum : v[k] * (g[k] - sum);
    out.write(at[0], g);
  }
};

void forward(const Queue& queue, bool log, const Out& out, const View& in) {
  const int rows_of = in.ndim > 0 ? in.ndim - 1 : 0;
  const Places<2> rows = Dims(in, 0, rows_of, true).places(out, in), elements = Dims(in, rows_of, in.ndim, false).places(out, in);
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    change_rows(queue, rows.count, elements, dense_rows(in, in.ndim - rows_of), Softmax<C>{out, in, rows, log});
  });
}

void backward(const Queue& queue, bool log, const Out& out, const View& grad, const View& y) {
  const int rows_of = y.ndim > 0 ? y.ndim - 1 : 0;
  const Places<3> rows = Dims(y, 0, rows_of, true).places(out, grad, y), elements = Dims(y, rows_of, y.ndim, false).places(out, grad, y);
  visit_floating_compute(y.dtype, [&](auto zero) {
    using C = decltype(zero);
    change_rows(queue, rows.count, elements, dense_rows(y, y.ndim - rows_of), SoftmaxGradient<C>{out, grad, y, rows, log});
  });
}

}  // namespace

void softmax(const Queue& queue, Out out, View in) { forward(queue, false, out, in); }
void log_softmax(const Queue& queue, Out out, View in) { forward(queue, true, out, in); }
void softmax_backward(const Queue& queue, Out out, View grad, View y) { backward(queue, false, out, grad, y); }
void log_softmax_backward(const Queue& queue, Out out, View grad, View y) { backward(queue, true, out, grad, y); }

}  // namespace tandem::kernels::cuda
