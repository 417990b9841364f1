// Pooling, a vector of outputs at a time: what a window sees is compared or added in registers, one place of the window after another.
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
      if constexpr (indexed)
        for (int64_t lane = 0; lane < kLanes && i + lane < n; ++lane) indices[i + lane] = where[lane];
    }
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

void deinterleave(float* even, float* odd, const float* from, int64_t n) {
  using V = Vec<float>;
  int64_t i = 0;
  for (; i + V::kLanes <= n; i += V::kLanes) {
    const V a = V::load(from + 2 * i), b = V::load(from + 2 * i + V::kLanes);
    V(shuffle(a.v, b.v, [](int lane) { return 2 * lane; })).store(even + i);
    V(shuffle(a.v, b.v, [](int lane) { return 2 * lane + 1; })).store(odd + i);
  }
  for (; i < n; ++i) {
    even[i] = from[2 * i];
    odd[i] = from[2 * i + 1];
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
}

}  // namespace tandem::kernels::cpu::TD_ISA
