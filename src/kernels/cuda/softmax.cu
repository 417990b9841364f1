// Softmax and log-softmax over rows, and their gradients. A group of threads reads its rows for their totals, combines these, and reads
// the rows once more, mostly from a cache, for the results.
#include <limits>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/rows.cuh"

namespace tandem::kernels::cuda {
namespace {

/// The maximum of some numbers, nan apart, and the sum of exp(x - shift()), so that a row is read once for both.
template <class C>
struct Exponentials {
  C max, sum;

  TD_DEVICE static Exponentials none() { return {-std::numeric_limits<C>::infinity(), C(0)}; }
  TD_DEVICE C shift() const { return max == -std::numeric_limits<C>::infinity() ? C(0) : max; }
  template <int n>
  TD_DEVICE void add(const C (&x)[n]) {
    C larger = max;
    for (int k = 0; k < n; ++k) larger = x[k] > larger ? x[k] : larger;
    if (larger > max) {
      sum *= math::exp(max - larger);
      max = larger;
    }
    for (int k = 0; k < n; ++k) sum += math::exp(x[k] - shift());
  }
  TD_DEVICE Exponentials combined(const Exponentials& other) const {
    Exponentials both{max > other.max ? max : other.max, C(0)};
    both.sum = sum * math::exp(max - both.shift()) + other.sum * math::exp(other.max - both.shift());
    return both;
  }
};

template <class C, int threads>
struct Softmax {
  struct Shared {
    Exponentials<C> totals[threads];
  };
  Floats<C> out, in;
  Rows<2> rows;  // of out, of in
  bool log;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {
      Exponentials<C> total = Exponentials<C>::none();
      rows.for_elements(rows.row(i, t), t, [&]<int n>(const int64_t(&at)[2][n], int64_t) {
        C x[n];
        in.read(at[1], x, rows.together(1));
        total.add(x);
      });
      shared.totals[t] = total;
    });
    rows.reduce(group, shared.totals, [](const Exponentials<C>& a, const Exponentials<C>& b) { return a.combined(b); });
    group.each([&](int t) {
      const Exponentials<C> total = shared.totals[rows.first(t)];
      const C max = total.max, last = log ? math::log(total.sum) : 1 / total.sum;  // what is subtracted last, or a factor
      rows.for_elements(rows.row(i, t), t, [&]<int n>(const int64_t(&at)[2][n], int64_t) {
        C x[n];
        in.read(at[1], x, rows.together(1));
        for (int k = 0; k < n; ++k) x[k] = log ? x[k] - max - last : math::exp(x[k] - max) * last;
        out.write(at[0], x, rows.together(0));
      });
    });
  }
};

template <class C, int threads>
struct SoftmaxGradient {
  struct Shared {
    C sums[threads];
  };
  Floats<C> out, grad, y;
  Rows<3> rows;  // of out, of grad, of y
  bool log;

  TD_DEVICE void operator()(Group<threads>& group, int64_t i, Shared& shared) const {
    group.each([&](int t) {  // the sum of grad, or of grad * y
      C sum = 0;
      rows.for_elements(rows.row(i, t), t, [&]<int n>(const int64_t(&at)[3][n], int64_t) {
        C g[n];
        grad.read(at[1], g, rows.together(1));
        if (!log) {
          C v[n];
          y.read(at[2], v, rows.together(2));
          for (int k = 0; k < n; ++k) g[k] *= v[k];
        }
        for (int k = 1; k < n; ++k) g[0] += g[k];
        sum += g[0];
      });
      shared.sums[t] = sum;
    });
    rows.reduce(group, shared.sums, [](C a, C b) { return a + b; });
    group.each([&](int t) {
      const C sum = shared.sums[rows.first(t)];
      rows.for_elements(rows.row(i, t), t, [&]<int n>(const int64_t(&at)[3][n], int64_t) {
        C g[n], v[n];
        grad.read(at[1], g, rows.together(1));
        y.read(at[2], v, rows.together(2));
        for (int k = 0; k < n; ++k) g[k] = log ? g[k] - math::exp(v[k]) * sum : v[k] * (g[k] - sum);
        out.write(at[0], g, rows.together(0));
      });
    });
  }
};

void forward(const Queue& queue, bool log, const Out& out, const View& in) {
  const int outer = in.ndim > 0 ? in.ndim - 1 : 0;
  const Rows<2> all =
      Rows<2>(places_in(in, 0, outer, true, out, in), places_in(in, outer, in.ndim, false, out, in), dense_rows(in, in.ndim - outer))
          .in_fours(out, in);
  visit_floating_compute(in.dtype, [&](auto zero) {
    split_rows<1024>(all, [&](auto threads, const Rows<2>& rows) {
      for_groups<threads>(queue, rows.groups(), Softmax<decltype(zero), threads>{out, in, rows, log});
    });
  });
}

void backward(const Queue& queue, bool log, const Out& out, const View& grad, const View& y) {
  const int outer = y.ndim > 0 ? y.ndim - 1 : 0;
  const Rows<3> all =
      Rows<3>(places_in(y, 0, outer, true, out, grad, y), places_in(y, outer, y.ndim, false, out, grad, y), dense_rows(y, y.ndim - outer))
          .in_fours(out, grad, y);
  visit_floating_compute(y.dtype, [&](auto zero) {
    split_rows<1024>(all, [&](auto threads, const Rows<3>& rows) {
      for_groups<threads>(queue, rows.groups(), SoftmaxGradient<decltype(zero), threads>{out, grad, y, rows, log});
    });
  });
}

}  // namespace

void softmax(const Queue& queue, Out out, View in) { forward(queue, false, out, in); }
void log_softmax(const Queue& queue, Out out, View in) { forward(queue, true, out, in); }
void softmax_backward(const Queue& queue, Out out, View grad, View y) { backward(queue, false, out, grad, y); }
void log_softmax_backward(const Queue& queue, Out out, View grad, View y) { backward(queue, true, out, grad, y); }

}  // namespace tandem::kernels::cuda
