// What the kernels of attention of few queries share: how keys are cut into pieces, what is kept of each, and where the result goes.
#pragma once

#include <algorithm>

#include "kernels/cuda/attention.cuh"

namespace tandem::kernels::cuda {

inline constexpr int kTogether = 8;       // keys
inline constexpr int64_t kShortest = 64;  // a piece, but for the last
inline constexpr int64_t kWanted = 4096;  // warps, where there are keys enough
static_assert(kShortest % kTogether == 0);

/// How the keys of a query are cut: `count` pieces of `keys`, the last one shorter.
struct Cut {
  int64_t keys, count;

  /// `warps` to a piece.
  Cut(const View& k, int64_t warps) {
    const int64_t all = k.sizes[2];
    const int64_t most = std::max<int64_t>((all + kShortest - 1) / kShortest, 1), wanted = std::max<int64_t>(kWanted / warps, 1);
    const int64_t each = (all + std::min(most, wanted) - 1) / std::min(most, wanted);
    keys = (each + kTogether - 1) / kTogether * kTogether;
    count = (all + keys - 1) / keys;
  }
};

/// What is kept of each piece, one behind the other: the largest score, the sum of exponentials, and the sums of the result's columns.
template <class C>
struct Partial {
  C* data;
  int64_t columns;

  TD_DEVICE C* of(int64_t row, int64_t pieces, int64_t piece) const { return data + (row * pieces + piece) * (columns + 2); }
};

/// A query's part of the result.
template <class T>
struct Result {
  using C = Compute<T>;
  Matrix<T> out;
  C* normalizer;

  /// Columns `first` + t, a warp's width further, …: f(w) is the sum of the w-th of them.
  template <int wide, class F>
  TD_DEVICE void store(int64_t b, int64_t h, int64_t i, int64_t first, int t, C sum, F f) const {
    T* const to = out.at(b, h) + i * out.row;
    const C by = sum == 0 ? C(0) : 1 / sum;  // nothing was seen
    TD_UNROLL
    for (int w = 0; w < wide; ++w)
      if (const int64_t column = first + t + w * kWarp; column < out.columns) to[column] = to_element<T>(f(w) * by);
  }
};

}  // namespace tandem::kernels::cuda
