// Means and squared deviations in one pass, joined in double, so that large means cost no digits (Chan, Golub and LeVeque 1979).
#pragma once

#include "kernels/host_device.h"

namespace tandem::kernels::cuda {

/// How many numbers, their mean, and the sum of their squared distances to it.
struct Moments {
  double count, mean, squares;

  TD_DEVICE void join(const Moments& more) {
    if (more.count > 0) join(more, more.count / (count + more.count));
  }
  /// Some numbers more; their own moments are taken around a mean in their own precision, and corrected for its rounding.
  template <class C, int n>
  TD_DEVICE void add(const C (&x)[n]) {
    // The share that these have in all weighs distances alone: their own precision is enough for it, and division in double is slow.
    const auto share = static_cast<double>(C(n) / static_cast<C>(count + n));
    if constexpr (n == 1) {
      join({1, static_cast<double>(x[0]), 0}, share);
    } else {
      C center = 0, sum = 0, squared = 0;
      for (int k = 0; k < n; ++k) center += x[k] / n;
      for (int k = 0; k < n; ++k) {
        const C distance = x[k] - center;
        sum += distance;
        squared += distance * distance;
      }
      join({n, static_cast<double>(center) + static_cast<double>(sum) / n, static_cast<double>(squared - sum * sum / n)}, share);
    }
  }

 private:
  TD_DEVICE void join(const Moments& more, double share) {
    const double step = more.mean - mean;
    squares += more.squares + (count > 0 ? step * step * count * share : 0);
    mean = count > 0 ? mean + step * share : more.mean;
    count += more.count;
  }
};

}  // namespace tandem::kernels::cuda
