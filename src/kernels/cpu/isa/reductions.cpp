// Reductions of contiguous rows, and of columns side by side. Floats are added in float for a thousand elements at most, in four registers
// of lanes; these sums are added in double. So a sum is as precise as pairwise summation, and as fast as memory.
#include <utility>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/math.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

// What is done to each element, and how two results become one.
struct Plain {
  template <class V>
  TD_INLINE static V apply(V x) {
    return x;
  }
};
struct Magnitude {
  template <class V>
  TD_INLINE static V apply(V x) {
    return math::abs(x);
  }
};
struct Squared {
  template <class V>
  TD_INLINE static V apply(V x) {
    return x * x;
  }
};
struct NotZero {
  template <class V>
  TD_INLINE static V apply(V x) {
    using kernels::select;  // for numbers; for vectors it is found by itself
    return select(x != V(0), V(1), V(0));
  }
};
struct Add {
  template <class V>
  TD_INLINE static V combine(V a, V b) {
    if constexpr (std::is_same_v<V, int64_t>) return math::wrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else return a + b;
  }
};
struct Multiply {
  template <class V>
  TD_INLINE static V combine(V a, V b) {
    if constexpr (std::is_same_v<V, int64_t>) return math::wrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else return a * b;
  }
};
struct Max {
  template <class V>
  TD_INLINE static V combine(V a, V b) {
    return math::maximum(a, b);
  }
  /// The same of numbers: b where one is nan.
  template <class V>
  TD_INLINE static V combine_numbers(V a, V b) {
    return max(a, b);
  }
};
struct Min {
  template <class V>
  TD_INLINE static V combine(V a, V b) {
    return math::minimum(a, b);
  }
  template <class V>
  TD_INLINE static V combine_numbers(V a, V b) {
    return min(a, b);
  }
};

template <class T>
using Total = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

template <class T, class Element, class Combine>
struct Reduction {
  using V = Vec<T>;
  using W = Vec<Total<T>>;
  static constexpr int64_t lanes = V::kLanes, parts = 4;
  static constexpr int64_t block = 16 * parts * lanes;

  /// Four registers' worth and more, a multiple of `parts` registers: one register.
  TD_INLINE static V reduce_block(const T* x, int64_t n) {
    V sum[parts];
    if constexpr (std::is_floating_point_v<T> &&
                  requires(V v) { Combine::combine_numbers(v, v); }) {  // one comparison asks two registers for nan
      for (int64_t k = 0; k < parts; ++k) sum[k] = Element::apply(V::load(x + k * lanes));
      Mask<T> nan = unordered(sum[0], sum[1]) | unordered(sum[2], sum[3]);
      for (int64_t i = parts * lanes; i < n; i += parts * lanes) {
        V more[parts];
        for (int64_t k = 0; k < parts; ++k) more[k] = Element::apply(V::load(x + i + k * lanes));
        nan = nan | unordered(more[0], more[1]) | unordered(more[2], more[3]);
        for (int64_t k = 0; k < parts; ++k) sum[k] = Combine::combine_numbers(more[k], sum[k]);
      }
      if (any(nan)) return V(kNan<T>);
      return Combine::combine_numbers(Combine::combine_numbers(sum[0], sum[1]), Combine::combine_numbers(sum[2], sum[3]));
    }
    for (int64_t k = 0; k < parts; ++k) sum[k] = Element::apply(V::load(x + k * lanes));
    for (int64_t i = parts * lanes; i < n; i += parts * lanes)
      for (int64_t k = 0; k < parts; ++k) sum[k] = Combine::combine(sum[k], Element::apply(V::load(x + i + k * lanes)));
    return Combine::combine(Combine::combine(sum[0], sum[1]), Combine::combine(sum[2], sum[3]));
  }
  TD_INLINE static W widened(V x) {
    if constexpr (sizeof(T) == 4) {
      const Halves wide = widen(x);
      return Combine::combine(wide.low, wide.high);
    } else {
      return x;
    }
  }

  static void row(void* total_address, const void* in, int64_t n) {
    const T* const x = static_cast<const T*>(in);
    Total<T> total;
    int64_t i = 0;
    if (n >= parts * lanes) {
      W sum = widened(reduce_block(x, n < block ? n - n % (parts * lanes) : block));
      i = n < block ? n - n % (parts * lanes) : block;
      while (n - i >= parts * lanes) {
        const int64_t rest = n - i, take = rest < block ? rest - rest % (parts * lanes) : block;
        sum = Combine::combine(sum, widened(reduce_block(x + i, take)));
        i += take;
      }
      for (; i + lanes <= n; i += lanes) sum = Combine::combine(sum, widened(Element::apply(V::load(x + i))));
      total = sum.v[0];
      for (int k = 1; k < W::kLanes; ++k) total = Combine::combine(total, static_cast<Total<T>>(sum.v[k]));
    } else if (n >= lanes) {
      W sum = widened(Element::apply(V::load(x)));
      for (i = lanes; i + lanes <= n; i += lanes) sum = Combine::combine(sum, widened(Element::apply(V::load(x + i))));
      total = sum.v[0];
      for (int k = 1; k < W::kLanes; ++k) total = Combine::combine(total, static_cast<Total<T>>(sum.v[k]));
    } else {
      total = Element::apply(x[0]);
      i = 1;
    }
    for (; i < n; ++i) total = Combine::combine(total, static_cast<Total<T>>(Element::apply(x[i])));
    *static_cast<Total<T>*>(total_address) = total;
  }

  static void columns(void* block_address, const void* in, int64_t stride, int64_t rows, int64_t n, bool first) {
    T* const to = static_cast<T*>(block_address);
    const T* const x = static_cast<const T*>(in);
    int64_t i = 0;
    for (; i + parts * lanes <= n; i += parts * lanes) {
      V sum[parts];
      for (int64_t k = 0; k < parts; ++k) sum[k] = first ? Element::apply(V::load(x + i + k * lanes)) : V::load(to + i + k * lanes);
      for (int64_t r = first; r < rows; ++r)
        for (int64_t k = 0; k < parts; ++k) sum[k] = Combine::combine(sum[k], Element::apply(V::load(x + r * stride + i + k * lanes)));
      for (int64_t k = 0; k < parts; ++k) sum[k].store(to + i + k * lanes);
    }
    for (; i + lanes <= n; i += lanes) {
      V sum = first ? Element::apply(V::load(x + i)) : V::load(to + i);
      for (int64_t r = first; r < rows; ++r) sum = Combine::combine(sum, Element::apply(V::load(x + r * stride + i)));
      sum.store(to + i);
    }
    if (i < n) {
      V sum = first ? Element::apply(V::load(x + i, n - i)) : V::load(to + i, n - i);
      for (int64_t r = first; r < rows; ++r) sum = Combine::combine(sum, Element::apply(V::load(x + r * stride + i, n - i)));
      sum.store(to + i, n - i);
    }
  }

  static void absorb(void* totals_address, const void* block_address, int64_t n, bool first) {
    auto* const totals = static_cast<Total<T>*>(totals_address);
    const T* const block = static_cast<const T*>(block_address);
    if (first)
      for (int64_t i = 0; i < n; ++i) totals[i] = block[i];
    else
      for (int64_t i = 0; i < n; ++i) totals[i] = Combine::combine(totals[i], static_cast<Total<T>>(block[i]));
  }

  static void combine(void* totals_address, const void* others_address, int64_t n) {
    auto* const totals = static_cast<Total<T>*>(totals_address);
    const auto* const others = static_cast<const Total<T>*>(others_address);
    for (int64_t i = 0; i < n; ++i) totals[i] = Combine::combine(totals[i], others[i]);
  }

  static constexpr Reducer reducer() { return {row, columns, absorb, combine}; }
};

template <class Element, class Combine>
void add(ReductionFunctions& table, Reduce op) {
  table.reduce[static_cast<int>(op)][kComputeFloat] = Reduction<float, Element, Combine>::reducer();
  table.reduce[static_cast<int>(op)][kComputeDouble] = Reduction<double, Element, Combine>::reducer();
  table.reduce[static_cast<int>(op)][kComputeInt] = Reduction<int64_t, Element, Combine>::reducer();
}

template <class T>
void deviations(double* sums, const void* in, double center, int64_t n) {
  using V = Vec<T>;
  using W = Vec<double>;
  constexpr int64_t parts = 4, lanes = V::kLanes, step = parts * lanes, block = 16 * step;
  const T* const x = static_cast<const T*>(in);
  const V middle(center);
  V first[parts], second[parts];  // several, so that additions need not wait for each other
  const auto clear = [&]() __attribute__((always_inline)) {
    for (int64_t k = 0; k < parts; ++k) first[k] = second[k] = V(0);
  };
  const auto add = [&](int64_t k, V d) __attribute__((always_inline)) {
    first[k] = first[k] + d;
    second[k] = fma(d, d, second[k]);
  };
  W all[2] = {W(0), W(0)};
  const auto absorb = [&]() __attribute__((always_inline)) {
    const auto widened = [](const V(&v)[parts]) __attribute__((always_inline)) {
      return Reduction<T, Plain, cpu::TD_ISA::Add>::widened((v[0] + v[1]) + (v[2] + v[3]));
    };
    all[0] = all[0] + widened(first);
    all[1] = all[1] + widened(second);
  };
  int64_t i = 0;
  for (; n - i >= block; i += block) {
    clear();
    for (int64_t j = i; j < i + block; j += step)
      for (int64_t k = 0; k < parts; ++k) add(k, V::load(x + j + k * lanes) - middle);
    absorb();
  }
  clear();
  for (; i + step <= n; i += step)
    for (int64_t k = 0; k < parts; ++k) add(k, V::load(x + i + k * lanes) - middle);
  for (; i + lanes <= n; i += lanes) add(0, V::load(x + i) - middle);
  if (i < n) add(1, keep_first(V::load(x + i, n - i) - middle, n - i, T(0)));
  absorb();
  for (int k = 0; k < 2; ++k) sums[k] += reduce_add(all[k]);
}

}  // namespace

void fill_reductions(ReductionFunctions& table) {
  using cpu::TD_ISA::Add;
  add<Plain, Add>(table, Reduce::Sum);
  add<Plain, Add>(table, Reduce::Mean);
  add<Plain, Multiply>(table, Reduce::Prod);
  add<Plain, Max>(table, Reduce::Max);
  add<Plain, Min>(table, Reduce::Min);
  add<NotZero, Max>(table, Reduce::Any);
  add<NotZero, Min>(table, Reduce::All);
  add<Magnitude, Add>(table, Reduce::Norm1);
  add<Squared, Add>(table, Reduce::Norm2);
  add<Magnitude, Max>(table, Reduce::NormInf);
  add<Squared, Add>(table, Reduce::SumOfSquares);
  add<Squared, Add>(table, Reduce::MeanOfSquares);
  add<NotZero, Add>(table, Reduce::CountNonzero);
  table.deviations[kComputeFloat] = deviations<float>;
  table.deviations[kComputeDouble] = deviations<double>;
}

}  // namespace tandem::kernels::cpu::TD_ISA
