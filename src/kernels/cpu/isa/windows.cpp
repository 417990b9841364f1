// Pooling, a vector of outputs at a time: what a window sees is compared or added in registers, one place of the window after another.
#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

template <class T>
struct Windowed {
  using V = Vec<T>;
  using Index = Raw<Bits<T>>;
  static constexpr int64_t kLanes = V::kLanes;

  TD_INLINE static const T* tap(const Taps& taps, int64_t k) { return static_cast<const T*>(taps.taps[k]); }
  TD_INLINE static V lowest() {
    if constexpr (std::is_floating_point_v<T>) return V(-std::numeric_limits<T>::infinity());
    else return V(std::numeric_limits<T>::min());
  }
  TD_INLINE static void put(T* to, V values, int64_t left) {
    if (left >= kLanes) values.store(to);
    else values.store(to, left);
  }

  /// Of equal elements the first counts, of nans the last.
  template <bool indexed>
  static void max_of(T* values, int64_t* indices, const int64_t* first, const Taps& taps, int64_t n) {
    Index steps;
    for (int i = 0; i < kLanes; ++i) steps[i] = static_cast<Bits<T>>(i * taps.step);
    for (int64_t i = 0; i < n; i += kLanes) {
      V best = lowest();
      Index where{};
      if constexpr (indexed)
        for (int lane = 0; lane < kLanes; ++lane) where[lane] = static_cast<Bits<T>>(first[i + lane]);
      for (int64_t k = 0; k < taps.count; ++k) {
        const V x = V::load(tap(taps, k) + i);
        const Mask<T> better = (x > best) | (x != x);
        best = select(better, x, best);
        if constexpr (indexed) {
          const Index here = steps + static_cast<Bits<T>>(taps.places[k] + i * taps.step);
          where = select(better, V::of_bits(here), V::of_bits(where)).bits();
        }
      }
      put(values + i, best, n - i);
      if constexpr (indexed) put_indices(indices + i, where, n - i);
    }
  }
  TD_INLINE static void put_indices(int64_t* to, Index where, int64_t left) {
    Bits<T> places[kLanes];
    std::memcpy(places, &where, sizeof places);
    if (left >= kLanes)
      for (int lane = 0; lane < kLanes; ++lane) to[lane] = places[lane];
    else
      for (int lane = 0; lane < left; ++lane) to[lane] = places[lane];
  }
  static void max(void* values, int64_t* indices, const int64_t* first, const Taps& taps, int64_t n) {
    if (indices) max_of<true>(static_cast<T*>(values), indices, first, taps, n);
    else max_of<false>(static_cast<T*>(values), indices, first, taps, n);
  }

  static void sum(void* values, const Taps& taps, int64_t n) {
    for (int64_t i = 0; i < n; i += kLanes) {
      V total(0);
      for (int64_t k = 0; k < taps.count; ++k) total = total + V::load(tap(taps, k) + i);
      put(static_cast<T*>(values) + i, total, n - i);
    }
  }
};

/// The elements 2 i and 2 i + 1 of a row for a vector of outputs, of which `left` are wanted.
struct Pairs {
  using V = Vec<float>;
  V even, odd;

  TD_INLINE Pairs(const float* from, int64_t left) : even(0), odd(0) {
    constexpr int64_t lanes = V::kLanes;
    const V a = left >= lanes ? V::load(from) : V::load(from, std::min(lanes, 2 * left));
    const V b = left >= lanes ? V::load(from + lanes) : 2 * left > lanes ? V::load(from + lanes, 2 * left - lanes) : V(0);
    even = V(shuffle(a.v, b.v, [](int lane) { return 2 * lane; }));
    odd = V(shuffle(a.v, b.v, [](int lane) { return 2 * lane + 1; }));
  }
};

void deinterleave(float* even, float* odd, const float* from, int64_t n) {
  for (int64_t i = 0; i < n; i += Vec<float>::kLanes) {
    const Pairs pairs(from + 2 * i, n - i);
    Windowed<float>::put(even + i, pairs.even, n - i);
    Windowed<float>::put(odd + i, pairs.odd, n - i);
  }
}

void max_pairs(float* values, int64_t* indices, const float* upper, const float* lower, int64_t place, int64_t width, int64_t n) {
  using W = Windowed<float>;
  using V = Vec<float>;
  W::Index steps;
  for (int i = 0; i < V::kLanes; ++i) steps[i] = static_cast<Bits<float>>(2 * i);
  for (int64_t i = 0; i < n; i += V::kLanes) {
    const Pairs above(upper + 2 * i, n - i), below(lower + 2 * i, n - i);
    V best = W::lowest();
    W::Index where = steps + static_cast<Bits<float>>(place + 2 * i);
    const auto see = [&](V x, int64_t at) __attribute__((always_inline)) {
      const Mask<float> better = (x > best) | (x != x);
      best = select(better, x, best);
      const W::Index here = steps + static_cast<Bits<float>>(place + 2 * i + at);
      where = select(better, V::of_bits(here), V::of_bits(where)).bits();
    };
    see(above.even, 0);
    see(above.odd, 1);
    see(below.even, width);
    see(below.odd, width + 1);
    W::put(values + i, best, n - i);
    if (indices) W::put_indices(indices + i, where, n - i);
  }
}

void mean_pairs(float* values, const float* upper, const float* lower, float by, int64_t n) {
  using V = Vec<float>;
  for (int64_t i = 0; i < n; i += V::kLanes) {
    const Pairs above(upper + 2 * i, n - i), below(lower + 2 * i, n - i);
    Windowed<float>::put(values + i, (((above.even + above.odd) + below.even) + below.odd) / V(by), n - i);
  }
}

void spread_pairs(float* upper, float* lower, const float* from, float by, int64_t n) {
  using V = Vec<float>;
  constexpr int64_t lanes = V::kLanes;
  for (int64_t i = 0; i < n; i += lanes) {
    const int64_t left = 2 * (n - i);
    const V share = (n - i >= lanes ? V::load(from + i) : V::load(from + i, n - i)) / V(by);
    const V first(shuffle(share.v, share.v, [](int lane) { return lane / 2; }));
    const V second(shuffle(share.v, share.v, [](int lane) { return (lane + static_cast<int>(lanes)) / 2; }));
    for (float* row : {upper + 2 * i, lower + 2 * i}) {
      Windowed<float>::put(row, first, left);
      if (left > lanes) Windowed<float>::put(row + lanes, second, left - lanes);
    }
  }
}

}  // namespace

void fill_windows(WindowFunctions& windows) {
  windows.max[kComputeFloat] = Windowed<float>::max;
  windows.max[kComputeDouble] = Windowed<double>::max;
  windows.max[kComputeInt] = Windowed<int64_t>::max;
  windows.sum[kComputeFloat] = Windowed<float>::sum;
  windows.sum[kComputeDouble] = Windowed<double>::sum;
  windows.sum[kComputeInt] = Windowed<int64_t>::sum;
  windows.deinterleave = deinterleave;
  windows.max_pairs = max_pairs;
  windows.mean_pairs = mean_pairs;
  windows.spread_pairs = spread_pairs;
}

}  // namespace tandem::kernels::cpu::TD_ISA
