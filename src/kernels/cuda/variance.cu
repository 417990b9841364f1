// Variance and mean in one pass over memory: the moments of four elements at a time, joined in double.
#include <limits>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/moments.cuh"
#include "kernels/cuda/reduction.cuh"

namespace tandem::kernels::cuda {
namespace {

template <class C>
struct Variance {
  using Total = Moments;
  Converted<C> in;
  Results variance, mean;
  Places<2> results;  // of variance, of mean
  double correction;

  TD_DEVICE Total identity() const { return {0, 0, 0}; }
  template <int n>
  TD_DEVICE void add(Total& total, const int64_t (&at)[n], int64_t, int) const {
    C x[n];
    in.read(at, x);
    total.add(x);
  }
  TD_DEVICE Total combine(Total a, const Total& b) const {
    a.join(b);
    return a;
  }
  TD_DEVICE void store(int64_t row, const Total& total) const {
    int64_t at[2];
    results(row, at);
    const double freedom = total.count - correction;
    variance.put(at[0], total.squares / (freedom > 0 ? freedom : 0));
    if (mean.data) mean.put(at[1], total.mean);
  }
};

}  // namespace

void variance(const Queue& queue, Out variance, Out mean, View in, int32_t reduced, double correction, void* workspace) {
  const int outer = in.ndim - reduced;
  const Places<1> elements = places_in(in, outer, in.ndim, true, in);
  if (elements.count == 0) {
    const Value nan{std::numeric_limits<double>::quiet_NaN(), 0, true};
    fill(queue, variance, nan);
    if (mean.data) fill(queue, mean, nan);
    return;
  }
  visit_floating_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Places<2> results = places_in(in, 0, outer, true, variance, mean.data ? mean : variance);
    reduce_rows(queue, Cut(in, reduced), places_in(in, 0, outer, true, in), elements, Variance<C>{in, variance, mean, results, correction},
                workspace);
  });
}

}  // namespace tandem::kernels::cuda
