// What the indexing kernels share: checking an index, and combining elements that go to one place.
#pragma once

#include "kernels/cuda/elements.cuh"

namespace tandem::kernels::cuda {

/// Up to this many indices that may name one place keep their order; more of them are combined in any order, unless algorithms have to be
/// deterministic, since one thread or group that goes through all of them would keep a GPU waiting.
inline constexpr int64_t kOrdered = 4096;

/// Whether `index`, counted from the end where `negative` ones may be, lies in [0, size); it is wrapped to that.
TD_DEVICE bool wrap_index(int64_t& index, int64_t size, bool negative) {
  const int64_t wrapped = negative && index < 0 ? index + size : index;
  if (static_cast<uint64_t>(wrapped) >= static_cast<uint64_t>(size)) return false;
  index = wrapped;
  return true;
}

/// Whether `index` lies in [0, size); reported where it does not.
TD_DEVICE bool within(const Reporter& report, int64_t index, int64_t size) {
  if (static_cast<uint64_t>(index) < static_cast<uint64_t>(size)) return true;
  report(Trouble::IndexOutOfRange, index, size);
  return false;
}

template <class T>
TD_DEVICE bool is_nan(T x) {
  if constexpr (std::is_integral_v<T>) return false;
  else return x != x;
}

/// An element as what it is combined in: float32 where sums or products of half types are made, else as it is.
template <class To, class T>
TD_DEVICE To combinable(T x) {
  if constexpr (std::is_same_v<To, T>) return x;
  else return to_compute(x);
}

/// a and b combined: integers wrapping, bool with "or" and "and"; for Max and Min nan wins.
template <class T>
TD_DEVICE T combined(Scatter mode, T a, T b) {
  const Compute<T> x = to_compute(a), y = to_compute(b);
  switch (mode) {
    case Scatter::Set: return b;
    case Scatter::Add:
      if constexpr (std::is_same_v<T, bool>) return a || b;
      else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      else return to_element<T>(x + y);
    case Scatter::Multiply:
      if constexpr (std::is_same_v<T, bool>) return a && b;
      else if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      else return to_element<T>(x * y);
    case Scatter::Max: return is_nan(y) || y > x ? b : a;
    default: return is_nan(y) || y < x ? b : a;
  }
}

/// *to = combined(mode, *to, from) while other threads do the same.
template <class T>
TD_DEVICE void atomic_combine(Scatter mode, T* to, T from) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int64_t>) {
    if (mode == Scatter::Add) return atomic_add(to, from);
  }
  if (mode == Scatter::Set) *to = from;
  else atomic_update(to, [&](T there) { return combined(mode, there, from); });
}

/// The places that an index_put names, += values in their order where these are not too many or algorithms have to be deterministic.
/// Indices equal to `skipped` do not count.
void accumulate(const Queue& queue, const View& out, const View& values, const Span<View>& indices, bool negative, int64_t skipped);

}  // namespace tandem::kernels::cuda
