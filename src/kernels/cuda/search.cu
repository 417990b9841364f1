// Places in sorted rows, by bisection: a thread a value.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/indexing.cuh"

namespace tandem::kernels::cuda {
namespace {

/// Numbers are compared as T: int64 or double, which hold every element.
template <class T>
struct Search {
  Out out;
  View sorted, values;
  const int64_t* order;
  Places<4> places;  // of out and values; of the rows of sorted and order
  int64_t length, sorted_stride, order_stride;
  bool right;
  Reporter report;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[4];
    places(i, at);
    const T wanted = load<T>(values.data, values.dtype, at[1]);
    int64_t low = 0, high = length;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      int64_t place = middle;
      if (order) {
        place = order[at[3] + middle * order_stride];
        if (!within(report, place, length)) break;
      }
      const T x = load<T>(sorted.data, sorted.dtype, at[2] + place * sorted_stride);
      const bool later = right ? !(wanted < x) && (is_nan(wanted) || !is_nan(x)) : x < wanted || (is_nan(wanted) && !is_nan(x));
      if (later) low = middle + 1;
      else high = middle;
    }
    store(out.data, out.dtype, at[0], low);
  }
};

/// The strides from row to row of `view`, for places of `ndim` dimensions whose last is within a row.
struct RowStrides {
  int64_t strides[kMaxDims] = {};

  RowStrides(const View& view, int ndim) {
    for (int d = 0; d + 1 < ndim; ++d) strides[d] = view.strides[d];
  }
};

}  // namespace

void searchsorted(const Queue& queue, Out out, View sorted, View values, View order, bool right) {
  const bool ordered = order.data != nullptr;
  const RowStrides sorted_rows(sorted, values.ndim), order_rows(ordered ? order : sorted, values.ndim);
  const Places<4> places(values.ndim, values.sizes, {out.strides, values.strides, sorted_rows.strides, order_rows.strides});
  const int last = sorted.ndim - 1;
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, places.count,
             Search<T>{out, sorted, values, order.as<const int64_t>(), places, sorted.sizes[last], sorted.strides[last],
                       ordered ? order.strides[last] : 0, right, Reporter(queue)});
  };
  if (is_floating(values.dtype)) run(double{});
  else run(int64_t{});
}

}  // namespace tandem::kernels::cuda
