// Sizes and strides: dimensions in the order of their strides, joined where arrays run through two of them as through one, and where an
// element lies. For operations and every back end.
#pragma once

#include <array>
#include <cstdint>

#include "base/shape.h"
#include "kernels/host_device.h"

namespace tandem::kernels {

/// Whether elements follow each other row by row, without gaps. Dimensions of size 1 may have any stride.
inline bool is_contiguous(int ndim, const int64_t* sizes, const int64_t* strides) {
  int64_t expected = 1;
  for (int d = ndim - 1; d >= 0; --d) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

/// The first and the last place, in elements, that an array with elements reaches.
struct Extent {
  int64_t first = 0, last = 0;
};
inline Extent extent_of(int ndim, const int64_t* sizes, const int64_t* strides) {
  Extent extent;
  for (int d = 0; d < ndim; ++d) (strides[d] < 0 ? extent.first : extent.last) += (sizes[d] - 1) * strides[d];
  return extent;
}

/// Writes the dimensions [begin, end) to `order`, the largest strides first, whatever their sign; equal ones stay as they are.
inline void order_by_stride(int begin, int end, const int64_t* strides, int* order) {
  const auto magnitude = [&](int d) { return strides[d] < 0 ? -strides[d] : strides[d]; };
  for (int d = begin; d < end; ++d) {
    int at = d - begin;
    for (; at > 0 && magnitude(order[at - 1]) < magnitude(d); --at) order[at] = order[at - 1];
    order[at] = d;
  }
}

/// Adds a dimension inside the `ndim` that there are, with strides `by` of so many arrays, and gives their new number. It becomes one with
/// the last where every array runs through both as through one; a size of 1 is left out. Neither unless it `may_join`.
template <int N>
inline int push_dim(int ndim, int64_t* sizes, int64_t* const (&strides)[N], int64_t size, const int64_t (&by)[N], int arrays = N,
                    bool may_join = true) {
  if (size == 1 && may_join) return ndim;
  bool joins = ndim > 0 && may_join;
  for (int k = 0; joins && k < arrays; ++k) joins = strides[k][ndim - 1] == by[k] * size;
  if (joins) sizes[ndim - 1] *= size;
  else sizes[ndim++] = size;
  for (int k = 0; k < arrays; ++k) strides[k][ndim - 1] = by[k];
  return ndim;
}

struct Division {
  int64_t quotient, remainder;
};
TD_HOST_DEVICE inline Division divide(int64_t n, int64_t by) { return {n / by, n % by}; }

/// Calls f(d, i) for each dimension, the last one first: i is the index in it of element number `n`, row-major over the sizes. A size is a
/// number, or what `divide` takes in its place.
template <class Size, class F>
TD_HOST_DEVICE inline void for_indices(int64_t n, int ndim, const Size* sizes, F f) {
  for (int d = ndim - 1; d > 0; --d) {
    const Division by = divide(n, sizes[d]);
    f(d, by.remainder);
    n = by.quotient;
  }
  if (ndim > 0) f(0, n);
}

/// Where element number `n` of one array lies.
inline int64_t offset_of(int64_t n, int ndim, const int64_t* sizes, const int64_t* strides) {
  int64_t offset = 0;
  for_indices(n, ndim, sizes, [&](int d, int64_t i) { offset += i * strides[d]; });
  return offset;
}

/// The dimensions of N arrays of common sizes, as few as their strides allow.
template <int N>
struct StridedDims {
  int ndim = 0;
  int64_t numel = 1;
  int64_t sizes[kMaxDims];
  int64_t strides[N][kMaxDims];

  /// Adds an inner dimension: see push_dim.
  void push(int64_t size, const int64_t (&by)[N], bool may_join = true) {
    int64_t* lists[N];
    for (int k = 0; k < N; ++k) lists[k] = strides[k];
    ndim = push_dim(ndim, sizes, lists, size, by, N, may_join);
    numel = wrapping_product(numel, size);
  }
  /// A single element gets a dimension, too.
  void require_one() {
    if (ndim > 0) return;
    sizes[ndim++] = 1;
    for (int k = 0; k < N; ++k) strides[k][0] = 1;
  }
  /// Where element number `n` of each array lies.
  [[nodiscard]] std::array<int64_t, N> locate(int64_t n) const {
    std::array<int64_t, N> places{};
    for_indices(n, ndim, sizes, [&](int d, int64_t i) {
      for (int k = 0; k < N; ++k) places[k] += i * strides[k][d];
    });
    return places;
  }
};

}  // namespace tandem::kernels
