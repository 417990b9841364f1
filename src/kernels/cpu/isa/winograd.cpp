// The transforms of Winograd's algorithm, which evaluates what is convolved as polynomials at six places: 0, a, -a, b, -b and infinity.
// With the matrices of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), which takes a = 1 and b = 2; with those
// here the numbers stay closer together, and the error is smaller.
#include <algorithm>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace tandem::kernels::cpu::TD_ISA {
namespace {

using V = Vec<float>;
constexpr int64_t kLanes = V::kLanes;
constexpr double kA = 0.625, kB = 1.5, kA2 = kA * kA, kB2 = kB * kB;
/// What divides the values at 0, at a and at b.
constexpr double kBy0 = kA2 * kB2, kByA = 2 * kA2 * (kA2 - kB2), kByB = 2 * kB2 * (kB2 - kA2);

/// from * by + to.
TD_INLINE V add(V to, double by, V from) { return fma(V(static_cast<float>(by)), from, to); }
TD_INLINE V times(double by, V from) { return V(static_cast<float>(by)) * from; }

/// Six places of an image to the six values.
struct Input {
  static constexpr int kFrom = 6, kTo = 6;
  TD_INLINE static void apply(V* to, const V* d) {
    const V even_a = add(d[4], -kB2, d[2]), odd_a = add(d[3], -kB2, d[1]), even_b = add(d[4], -kA2, d[2]), odd_b = add(d[3], -kA2, d[1]);
    to[0] = add(add(d[4], -(kA2 + kB2), d[2]), kBy0, d[0]);
    to[1] = add(even_a, kA, odd_a);
    to[2] = add(even_a, -kA, odd_a);
    to[3] = add(even_b, kB, odd_b);
    to[4] = add(even_b, -kB, odd_b);
    to[5] = add(add(d[5], -(kA2 + kB2), d[3]), kBy0, d[1]);
  }
};
/// Sums of products at the six to four places of a result.
struct Output {
  static constexpr int kFrom = 6, kTo = 4;
  TD_INLINE static void apply(V* to, const V* m) {
    const V even_a = m[1] + m[2], odd_a = m[1] - m[2], even_b = m[3] + m[4], odd_b = m[3] - m[4];
    to[0] = m[0] + (even_a + even_b);
    to[1] = add(times(kA, odd_a), kB, odd_b);
    to[2] = add(times(kA2, even_a), kB2, even_b);
    to[3] = add(add(m[5], kA2 * kA, odd_a), kB2 * kB, odd_b);
  }
};
/// Three elements of a window.
struct Weight {
  static constexpr int kFrom = 3, kTo = 6;
  TD_INLINE static void apply(V* to, const V* g) {
    const V even_a = add(times(1 / kByA, g[0]), kA2 / kByA, g[2]), even_b = add(times(1 / kByB, g[0]), kB2 / kByB, g[2]);
    to[0] = times(1 / kBy0, g[0]);
    to[1] = add(even_a, kA / kByA, g[1]);
    to[2] = add(even_a, -kA / kByA, g[1]);
    to[3] = add(even_b, kB / kByB, g[1]);
    to[4] = add(even_b, -kB / kByB, g[1]);
    to[5] = g[2];
  }
};
/// Four places of the gradient of a result, for that of the weight: it is the window there, undivided.
struct Gradient {
  static constexpr int kFrom = 4, kTo = 6;
  TD_INLINE static void apply(V* to, const V* e) {
    const V even_a = add(e[0], kA2, e[2]), odd_a = add(e[1], kA2, e[3]), even_b = add(e[0], kB2, e[2]), odd_b = add(e[1], kB2, e[3]);
    to[0] = e[0];
    to[1] = add(even_a, kA, odd_a);
    to[2] = add(even_a, -kA, odd_a);
    to[3] = add(even_b, kB, odd_b);
    to[4] = add(even_b, -kB, odd_b);
    to[5] = e[3];
  }
};
/// And their sums of products to three elements of the weight's gradient.
struct WeightGradient {
  static constexpr int kFrom = 6, kTo = 3;
  TD_INLINE static void apply(V* to, const V* m) {
    const V even_a = m[1] + m[2], odd_a = m[1] - m[2], even_b = m[3] + m[4], odd_b = m[3] - m[4];
    to[0] = add(add(times(1 / kBy0, m[0]), 1 / kByA, even_a), 1 / kByB, even_b);
    to[1] = add(times(kA / kByA, odd_a), kB / kByB, odd_b);
    to[2] = add(add(m[5], kA2 / kByA, even_a), kB2 / kByB, even_b);
  }
};

/// Along columns, then along rows.
template <class T, class Load, class Store>
TD_INLINE void transform(Load load, Store store) {
  V half[T::kTo][T::kFrom];
#pragma GCC unroll 6
  for (int x = 0; x < T::kFrom; ++x) {
    V from[T::kFrom], to[T::kTo];
#pragma GCC unroll 6
    for (int y = 0; y < T::kFrom; ++y) from[y] = load(y, x);
    T::apply(to, from);
#pragma GCC unroll 6
    for (int y = 0; y < T::kTo; ++y) half[y][x] = to[y];
  }
#pragma GCC unroll 6
  for (int y = 0; y < T::kTo; ++y) {
    V to[T::kTo];
    T::apply(to, half[y]);
#pragma GCC unroll 6
    for (int x = 0; x < T::kTo; ++x) store(y, x, to[x]);
  }
}

/// From places to values. The sum of a tile's squares says whether one of them is large, which costs a product for each of the places that
/// the next tile does not see.
template <class T>
bool to_values(const WinogradTiles& t, float large) {
  constexpr int kOwn = std::min(T::kFrom, 4);
  const V limit(large * large);
  V found(0);
  const auto look = [&](V squares) { found = select(squares < limit, found, V(1)); };
  for (int64_t i = 0; i < t.count; ++i) {
    const float* const from = t.places + i * t.next;
    float* const to = t.values + i * t.tile;
    V even(0), odd(0);
    transform<T>(
        [&](int y, int x) {
          const V place = V::load(from + y * t.row + x * t.column);
          V& squares = y % 2 ? odd : even;
          if (x < kOwn) squares = fma(place, place, squares);
          return place;
        },
        [&](int y, int x, V v) { v.store(to + (6 * y + x) * t.step); });
    look(even + odd);
  }
  const float* const last = t.places + (t.count - 1) * t.next;
  for (int x = kOwn; x < T::kFrom; ++x)
    for (int y = 0; y < T::kFrom; ++y) {
      const V place = V::load(last + y * t.row + x * t.column);
      look(place * place);
    }
  return any(found > V(0));
}
template <class T>
void from_values(const WinogradTiles& t) {
  const V bias = t.bias ? V::load(t.bias) : V(0);
  for (int64_t i = 0; i < t.count; ++i) {
    const float* const from = t.values + i * t.tile;
    float* const to = t.places + i * t.next;
    transform<T>(
        [&](int y, int x) {
          const float* at = from + (6 * y + x) * t.step;
          V sum = V::load(at);
          for (int64_t c = 1; c < t.copies; ++c) sum = sum + V::load(at += t.copy);
          return sum;
        },
        [&](int y, int x, V v) { (v + bias).store(to + y * t.row + x * kLanes); });
  }
}

}  // namespace

void fill_winograd(WinogradFunctions& winograd) {
  winograd = {to_values<Input>, from_values<Output>, to_values<Weight>, to_values<Gradient>, from_values<WeightGradient>};
}

}  // namespace tandem::kernels::cpu::TD_ISA
