// Places in sorted rows, by bisection, and the order of whole rows.
#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"
#include "kernels/keys.h"

namespace tandem::kernels::cpu {

namespace {

constexpr int64_t kTogether = 8;  // searches at a time: what one waits for from memory, the others wait for too

/// Where values belong in a sorted row of `length`, whose element i is at(i): before the elements that are equal, behind them if `right`.
/// nans are the largest.
template <bool right, class N, class At>
void bisect(const N* values, int64_t count, int64_t length, int64_t* places, At at) {
  bool nan[kTogether];
  for (int64_t k = 0; k < count; ++k) {
    nan[k] = is_nan(values[k]);
    places[k] = 0;
  }
  // Whether the value's place is behind x. Without branches, as no processor could guess them.
  const auto behind = [&](int64_t k, N x) -> bool {
    if constexpr (right) return (!(values[k] < x)) & (nan[k] | (!is_nan(x)));
    else return (x < values[k]) | (nan[k] & (!is_nan(x)));
  };
  int64_t n = length;  // every place is among the n elements from places[k] on, or right behind them
  for (; n > 1; n -= n / 2)
    for (int64_t k = 0; k < count; ++k) places[k] += behind(k, at(places[k] + n / 2 - 1)) ? n / 2 : 0;
  if (n == 1)
    for (int64_t k = 0; k < count; ++k) places[k] += behind(k, at(places[k]));
}

}  // namespace

void searchsorted(const Queue& queue, Out out_view, View sorted_view, View values_view, View order_view, bool right) {
  const Rows out(out_view), sorted(sorted_view), values(values_view);
  const bool ordered = order_view.data != nullptr;
  const Rows order(ordered ? order_view : sorted_view);
  const int64_t columns = values.length(), length = sorted.length();
  visit(values.dtype(), [&]<class T>(T) {
    parallel_for(values.count() * columns, 1024, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin, count; i < end; i += count) {
        const int64_t row = i / columns, column = i % columns;
        count = std::min({kTogether, end - i, columns - column});
        decltype(number(T())) wanted[kTogether];
        for (int64_t k = 0; k < count; ++k) wanted[k] = number(*reinterpret_cast<const T*>(values.address(row, column + k)));
        int64_t places[kTogether];
        const auto search = [&](auto at) {
          if (right) bisect<true>(wanted, count, length, places, at);
          else bisect<false>(wanted, count, length, places, at);
        };
        const T* const from = reinterpret_cast<const T*>(sorted.address(row));
        if (ordered) {
          const auto* const to_element = reinterpret_cast<const int64_t*>(order.address(row));
          search([&](int64_t place) {
            const int64_t element = to_element[place * order.stride()];
            return number(from[within(queue, element, length) ? element * sorted.stride() : 0]);
          });
        } else {
          search([&](int64_t place) { return number(from[place * sorted.stride()]); });
        }
        for (int64_t k = 0; k < count; ++k) {
          if (out_view.dtype == kInt32) *reinterpret_cast<int32_t*>(out.address(row, column + k)) = static_cast<int32_t>(places[k]);
          else *reinterpret_cast<int64_t*>(out.address(row, column + k)) = places[k];
        }
      }
    });
  });
}

void sort_rows(const Queue&, Out order, View in) {
  const int64_t rows = in.sizes[0], columns = in.sizes[1];
  auto* const places = order.as<int64_t>();
  std::iota(places, places + rows, int64_t{0});
  visit(in.dtype, [&]<class T>(T) {
    const T* const from = in.as<const T>();
    std::sort(places, places + rows, [&](int64_t a, int64_t b) {
      for (int64_t c = 0; c < columns; ++c) {
        const auto x = key_of<uint64_t>(from[a * in.strides[0] + c * in.strides[1]]),
                   y = key_of<uint64_t>(from[b * in.strides[0] + c * in.strides[1]]);
        if (x != y) return x < y;
      }
      return a < b;
    });
  });
}

}  // namespace tandem::kernels::cpu
