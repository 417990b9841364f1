// Variance and mean in one pass over memory: the moments of four elements at a time, joined in double.
#include <limits>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/moments.cuh"

namespace tandem::kernels::cuda {
namespace {

template <class C>
struct Variance {
  using Total = Moments;
  static constexpr int kArrays = 1;
  static constexpr int kMost = 1024;
  Converted<C> in;
  Results variance, mean;
  Places<3> rows;  // of in, of variance, of mean
  double correction;

  TD_DEVICE Total none() const { return {0, 0, 0}; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[1]) const {
    int64_t all[3];
    rows(row, all);
    at[0] = all[0];
  }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[1][n], int64_t, int) const {
    C x[n];
    in.read(at[0], x);
    total.add(x);
  }
  TD_DEVICE Total combine(Total a, const Total& b) const {
    a.join(b);
    return a;
  }
  TD_DEVICE void write(int64_t row, const Total& total) const {
    int64_t at[3];
    rows(row, at);
    const double freedom = total.count - correction;
    variance.put(at[1], total.squares / (freedom > 0 ? freedom : 0));
    if (mean.data) mean.put(at[2], total.mean);
  }
};

}  // namespace

void variance(const Queue& queue, Out variance, Out mean, View in, int32_t reduced, double correction, void* workspace) {
  const int kept = in.ndim - reduced;
  const Places<1> elements = Dims(in, kept, in.ndim, true).places(in);
  if (elements.count == 0) {
    const Value nan{std::numeric_limits<double>::quiet_NaN(), 0, true};
    fill(queue, variance, nan);
    if (mean.data) fill(queue, mean, nan);
    return;
  }
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Places<3> rows = Dims(in, 0, kept, true).places(in, variance, mean.data ? mean : variance);
    reduce_rows(queue, Cut(in, reduced), elements, Variance<C>{in, variance, mean, rows, correction}, workspace);
  });
}

}  // namespace tandem::kernels::cuda
