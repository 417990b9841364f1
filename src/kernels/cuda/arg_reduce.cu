// Largest and smallest elements with their first index. A total is a value and its index; of equal values the lower index stays, so the
// order in which totals meet does not matter.
#include "kernels/cuda/entries.h"
#include "kernels/cuda/reduction.cuh"

namespace tandem::kernels::cuda {
namespace {

template <class C>
struct Found {
  C value;
  int64_t index;  // -1: nothing yet
};

template <class C>
struct ArgReduction {
  using Total = Found<C>;
  static constexpr int kArrays = 1;
  static constexpr int kMost = 1024;
  Converted<C> in;
  Results values;
  int64_t* indices;
  Places<3> rows;  // of in, of indices, of values
  bool largest;

  TD_DEVICE Total none() const { return {C(0), -1}; }
  TD_DEVICE void base(int64_t row, int64_t (&at)[1]) const {
    int64_t all[3];
    rows(row, all);
    at[0] = all[0];
  }
  template <int n>
  TD_DEVICE void take(Total& total, const int64_t (&at)[1][n], int64_t number, int step) const {
    C x[n];
    in.read(at[0], x);
    Total best{x[0], number};
    for (int k = 1; k < n; ++k)
      if (better(x[k], best.value)) best = {x[k], number + k * step};
    if (total.index < 0 || better(best.value, total.value)) total = best;
  }
  TD_DEVICE Total combine(const Total& a, const Total& b) const {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    if (better(a.value, b.value)) return a;
    return better(b.value, a.value) || b.index < a.index ? b : a;
  }
  /// Whether a is the one to find, wherever they stand.
  TD_DEVICE bool better(C a, C b) const {
    if (math::isnan(a)) return !math::isnan(b);
    return largest ? a > b : a < b;
  }
  TD_DEVICE void write(int64_t row, const Total& total) const {
    int64_t at[3];
    rows(row, at);
    indices[at[1]] = total.index;
    if (values.data) values.put(at[2], total.value);
  }
};

}  // namespace

void arg_reduce(const Queue& queue, bool largest, Out values, Out indices, View in, int32_t reduced, void* workspace) {
  if (in.numel() == 0) return;
  const int kept = in.ndim - reduced;
  visit_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Places<3> rows = Dims(in, 0, kept, true).places(in, indices, values.data ? values : indices);
    reduce_rows(queue, Cut(in, reduced), Dims(in, kept, in.ndim, false).places(in),
                ArgReduction<C>{in, values, indices.as<int64_t>(), rows, largest}, workspace);
  });
}

}  // namespace tandem::kernels::cuda
