// One dimension made longer or shorter: every element of the result is a weighted sum of a few of the input's. Where more dimensions
// follow, whole runs of them are added; a last dimension is gone over element by element.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/rows.h"

namespace tandem::kernels::cpu {
namespace {

template <class T>
void add_run(T* to, const T* from, T weight, int64_t n, bool first) {
  if (first)
    for (int64_t i = 0; i < n; ++i) to[i] = weight * from[i];
  else
    for (int64_t i = 0; i < n; ++i) to[i] += weight * from[i];
}

}  // namespace

void resample(const Queue& queue, Out out, View in, View starts_view, View indices_view, View weights_view) {
  const int64_t outer = out.sizes[0], length = out.sizes[1], inner = out.sizes[2], in_length = in.sizes[1];
  const auto *starts = starts_view.as<int64_t>(), *indices = indices_view.as<int64_t>();
  const auto* weights = weights_view.as<double>();
  visit_floating_compute(in.dtype, [&]<class T>(T) {
    if (inner == 1) {
      return parallel_for(outer, row_grain(2 * length), queue.threads, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* from = in.as<T>() + row * in_length;
          T* to = out.as<T>() + row * length;
          for (int64_t i = 0; i < length; ++i) {
            T sum = 0;
            for (int64_t t = starts[i]; t < starts[i + 1]; ++t) sum += static_cast<T>(weights[t]) * from[indices[t]];
            to[i] = sum;
          }
        }
      });
    }
    parallel_for(outer * length, row_grain(inner), queue.threads, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t i = row % length;
        const T* from = in.as<T>() + row / length * in_length * inner;
        T* to = out.as<T>() + row * inner;
        if (starts[i] == starts[i + 1]) std::fill_n(to, inner, T(0));
        for (int64_t t = starts[i]; t < starts[i + 1]; ++t)
          add_run(to, from + indices[t] * inner, static_cast<T>(weights[t]), inner, t == starts[i]);
      }
    });
  });
}

}  // namespace tandem::kernels::cpu
