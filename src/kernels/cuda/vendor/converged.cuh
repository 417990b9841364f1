// Whether cuSOLVER found eigenvalues or singular values.
#pragma once

#include "kernels/cuda/launch.cuh"

namespace tandem::kernels::cuda::vendor {

/// Reports what cuSOLVER says of each matrix, the first of which is number `first`, and values that are not finite, of which it says
/// nothing: they spread to the first and the last of the `count` of a matrix.
template <class T>
struct Converged {
  const int* info;
  const T* values;
  int64_t count, first;
  Reporter report;
  TD_DEVICE void operator()(int64_t i) const {
    const T* const of = values + i * count;
    if (info[i] != 0 || !math::isfinite(of[0] + of[count - 1])) report(Trouble::NoConvergence, first + i, info[i]);
  }
};

}  // namespace tandem::kernels::cuda::vendor
