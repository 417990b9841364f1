// Places in sorted rows, by bisection, and the order of whole rows.
#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"
#include "kernels/keys.h"

namespace tandem::kernels::cpu {

void searchsorted(const Queue& queue, Out out_view, View sorted_view, View values_view, View order_view, bool right) {
  const Rows out(out_view), sorted(sorted_view), values(values_view);
  const bool ordered = order_view.data != nullptr;
  const Rows order(ordered ? order_view : sorted_view);
  const int64_t columns = values.length(), length = sorted.length();
  visit(values.dtype(), [&]<class T>(T) {
    parallel_for(values.count() * columns, 1024, queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / columns, column = i % columns;
        const T* const from = reinterpret_cast<const T*>(sorted.address(row));
        const auto* const places = reinterpret_cast<const int64_t*>(ordered ? order.address(row) : nullptr);
        const auto wanted = number(*reinterpret_cast<const T*>(values.address(row, column)));
        int64_t low = 0, high = length;
        while (low < high) {
          const int64_t middle = low + (high - low) / 2;
          int64_t place = middle;
          if (places) {
            place = places[middle * order.stride()];
            if (!within(queue, place, length)) break;
          }
          const auto x = number(from[place * sorted.stride()]);
          const bool later = right ? !(wanted < x) && (is_nan(wanted) || !is_nan(x)) : x < wanted || (is_nan(wanted) && !is_nan(x));
          low = later ? middle + 1 : low;
          high = later ? high : middle;
        }
        if (out_view.dtype == kInt32) *reinterpret_cast<int32_t*>(out.address(row, column)) = static_cast<int32_t>(low);
        else *reinterpret_cast<int64_t*>(out.address(row, column)) = low;
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
