// Where the elements of strided arrays lie.
#pragma once

#include <algorithm>

#include "kernels/host_device.h"
#include "kernels/view.h"

namespace tandem::kernels::cuda {

/// Division of numbers below 2^31 by one divisor, as a multiplication and a shift (Granlund and Montgomery).
struct FastDivide {
  uint32_t divisor = 1, multiplier = 1, shift = 0;

  FastDivide() = default;
  explicit FastDivide(uint32_t d) : divisor(d) {
    while ((1ULL << shift) < d) ++shift;
    multiplier = static_cast<uint32_t>(((1ULL << 32) * ((1ULL << shift) - d)) / d + 1);
  }
  TD_HOST_DEVICE uint32_t operator()(uint32_t n) const {
    return (static_cast<uint32_t>((static_cast<uint64_t>(n) * multiplier) >> 32) + n) >> shift;
  }
};

/// The same for numbers below 2^63: a division proper is a function on a GPU, for which registers have to be cleared.
struct WideDivide {
  uint64_t multiplier = 1;
  uint32_t shift = 0;

  WideDivide() = default;
  explicit WideDivide(uint64_t d) {
    __extension__ using Wide = unsigned __int128;
    while ((uint64_t{1} << shift) < d) ++shift;
    multiplier = static_cast<uint64_t>((static_cast<Wide>((uint64_t{1} << shift) - d) << 64) / d + 1);
  }
  TD_HOST_DEVICE uint64_t operator()(uint64_t n) const {
#if defined(__CUDA_ARCH__)
    return (__umul64hi(n, multiplier) + n) >> shift;
#else
    __extension__ using Wide = unsigned __int128;
    return (static_cast<uint64_t>((static_cast<Wide>(n) * multiplier) >> 64) + n) >> shift;
#endif
  }
};

/// Division of numbers that are not negative by one divisor; those below 2^31 as 32-bit ones.
struct Divide {
  int64_t divisor = 1, fast_below = 0;
  FastDivide fast;
  WideDivide wide;

  Divide() = default;
  explicit Divide(int64_t d) : divisor(d) {
    constexpr int64_t limit = int64_t{1} << 31;
    if (d <= 0) return;
    wide = WideDivide(static_cast<uint64_t>(d));
    if (d >= limit) return;
    fast_below = limit;
    fast = FastDivide(static_cast<uint32_t>(d));
  }
  TD_HOST_DEVICE int64_t operator()(int64_t n) const {
    if (n < fast_below) return fast(static_cast<uint32_t>(n));
    return static_cast<int64_t>(wide(static_cast<uint64_t>(n)));
  }
};
TD_HOST_DEVICE inline Division divide(int64_t n, const Divide& by) {
  const int64_t quotient = by(n);
  return {quotient, n - quotient * by.divisor};
}

/// The N indices of an element, by its number, row-major over these sizes.
template <int N>
struct Indices {
  int64_t count = 1;
  Divide by[N];

  explicit Indices(const int64_t* sizes) {
    for (int d = 0; d < N; ++d) {
      count *= sizes[d];
      by[d] = Divide(sizes[d]);
    }
  }
  TD_DEVICE void operator()(int64_t i, int64_t (&index)[N]) const {
    for_indices(i, N, by, [&](int d, int64_t at) { index[d] = at; });
  }
};

/// Where element number `i` (row-major over common sizes) of N strided arrays lies. Dimensions that all of them run through as one are
/// merged.
template <int N>
struct Places {
  int64_t count = 1;  // elements
  int ndim = 0;
  Divide by[kMaxDims];
  int64_t strides[N][kMaxDims];

  Places(int dims, const int64_t* all_sizes, const int64_t* const (&all_strides)[N]) {
    StridedDims<N> joined;
    for (int d = 0; d < dims; ++d) {
      int64_t step[N];
      for (int k = 0; k < N; ++k) step[k] = all_strides[k][d];
      joined.push(all_sizes[d], step);
    }
    count = joined.numel;
    ndim = joined.ndim;
    for (int d = 0; d < ndim; ++d) {
      by[d] = Divide(joined.sizes[d]);
      for (int k = 0; k < N; ++k) strides[k][d] = joined.strides[k][d];
    }
  }

  /// The size of a merged dimension.
  [[nodiscard]] int64_t size(int d) const { return by[d].divisor; }

  TD_DEVICE void operator()(int64_t i, int64_t (&at)[N]) const {
    for (int k = 0; k < N; ++k) at[k] = 0;
    for_indices(i, ndim, by, [&](int d, int64_t index) {
      for (int k = 0; k < N; ++k) at[k] += index * strides[k][d];
    });
  }
};

/// The strides of an operand that repeats one element.
inline constexpr int64_t kNoStrides[kMaxDims] = {};

/// The places of views of the same sizes.
inline Places<1> places_of(const View& a) { return {a.ndim, a.sizes, {a.strides}}; }
inline Places<2> places_of(const View& a, const View& b) { return {a.ndim, a.sizes, {a.strides, b.strides}}; }
inline Places<3> places_of(const View& a, const View& b, const View& c) { return {a.ndim, a.sizes, {a.strides, b.strides, c.strides}}; }

}  // namespace tandem::kernels::cuda
