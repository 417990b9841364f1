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
  Converted<C> in;
  Results values;
  int64_t* indices;
  Places<2> results;  // of indices, of values
  bool largest;

  TD_DEVICE Total identity() const { return {C(0), -1}; }
  template <int n>
  TD_DEVICE void add(Total& total, const int64_t (&at)[n], int64_t number, int step) const {
    C x[n];
    in.read(at, x);
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
  TD_DEVICE void store(int64_t row, const Total& total) const {
    int64_t at[2];
    results(row, at);
    indices[at[0]] = total.index;
    if (values.data) values.put(at[1], total.value);
  }
};

}  // namespace

void arg_reduce(const Queue& queue, bool largest, Out values, Out indices, View in, int32_t reduced, void* workspace) {
  if (in.numel() == 0) return;
  const int outer = in.ndim - reduced;
  visit_compute(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const Places<2> results = places_in(in, 0, outer, true, indices, values.data ? values : indices);
    reduce_rows(queue, Cut(in, reduced), places_in(in, 0, outer, true, in), places_in(in, outer, in.ndim, false, in),
                ArgReduction<C>{in, values, indices.as<int64_t>(), results, largest}, workspace);
  });
}

}  // namespace tandem::kernels::cuda
