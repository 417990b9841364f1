// What the indexing kernels share: checking an index, walking over positions of several strided operands at once, and moving or adding
// elements.
#pragma once

#include <cstring>

#include "base/half.h"
#include "base/queue.h"
#include "kernels/view.h"
#include "kernels/visit.h"

namespace tandem::kernels::cpu {

/// `index` wrapped from [-size, size) to [0, size); false, and reported, where it is outside.
inline bool wrap_index(const Queue& queue, int64_t& index, int64_t size) {
  const int64_t wrapped = index < 0 ? index + size : index;
  if (static_cast<uint64_t>(wrapped) >= static_cast<uint64_t>(size)) {
    queue.status->report(Trouble::IndexOutOfRange, index, size);
    return false;
  }
  index = wrapped;
  return true;
}

/// Whether `index` lies in [0, size); reported where it does not.
inline bool within(const Queue& queue, int64_t index, int64_t size) {
  if (static_cast<uint64_t>(index) < static_cast<uint64_t>(size)) return true;
  queue.status->report(Trouble::IndexOutOfRange, index, size);
  return false;
}

/// Positions of several strided operands of common sizes, in row-major order.
template <int kOperands>
struct Walk : StridedDims<kOperands> {
  using Dims = StridedDims<kOperands>;
  using Dims::ndim, Dims::sizes, Dims::strides;

  /// Calls `f(position, offsets)` for positions begin … end - 1.
  template <class F>
  void each(int64_t begin, int64_t end, F f) const {
    if (begin >= end) return;  // also where a size is 0
    int64_t at[kMaxDims], offsets[kOperands] = {};
    for_indices(begin, ndim, sizes, [&](int d, int64_t i) {
      at[d] = i;
      for (int k = 0; k < kOperands; ++k) offsets[k] += i * strides[k][d];
    });
    for (int64_t i = begin; i < end; ++i) {
      f(i, offsets);
      for (int d = ndim - 1; d >= 0; --d) {
        for (int k = 0; k < kOperands; ++k) offsets[k] += strides[k][d];
        if (++at[d] < sizes[d]) break;
        for (int k = 0; k < kOperands; ++k) offsets[k] -= strides[k][d] * sizes[d];
        at[d] = 0;
      }
    }
  }
};

/// A number to compute with, for an element.
template <class T>
auto number(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return static_cast<float>(x);
  else return x;
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>) return false;
  else return x != x;
}

/// What elements of T are summed in: float for the half types, else T.
template <class T>
using Sum = decltype(number(T{}));

/// to += from, integers wrapping, bool as "or".
template <class T>
void add_to(Sum<T>& to, T from) {
  if constexpr (std::is_same_v<T, bool>) to = to || from;
  else if constexpr (std::is_integral_v<T>) to = static_cast<T>(static_cast<uint64_t>(to) + static_cast<uint64_t>(from));
  else to += number(from);
}

}  // namespace tandem::kernels::cpu
