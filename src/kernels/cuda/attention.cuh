// What the kernels of attention share: operands by head, and scores with their mask and dropout.
#pragma once

#include <limits>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/random.h"

namespace tandem::kernels::cuda {

/// A matrix for each head: the elements of a view (b, heads, rows, columns).
template <class T>
struct Matrix {
  T* data;
  int64_t batch, head, row, rows, columns;

  explicit Matrix(const View& v)
      : data(v.as<T>()), batch(v.strides[0]), head(v.strides[1]), row(v.strides[2]), rows(v.sizes[2]), columns(v.sizes[3]) {}
  TD_DEVICE T* at(int64_t b, int64_t h) const { return data + b * batch + h * head; }
  /// The part of the matrix at `from` that begins at row i and column j, cut to a tile.
  struct Rest {
    const T* from;
    int64_t row;
    int rows, columns;

    TD_DEVICE Compute<T> operator()(int i, int j) const { return i < rows && j < columns ? to_compute(from[i * row + j]) : Compute<T>(0); }
  };
  TD_DEVICE Rest rest(const T* from, int64_t i, int64_t j) const {
    return {from + i * row + j, row, limited(rows - i), limited(columns - j)};
  }
  TD_DEVICE static int limited(int64_t n) {
    constexpr int most = 1 << 20;  // more rows than any tile has
    return n < most ? static_cast<int>(n) : most;
  }
};

/// The score of a query and a key, and the weight that dropout leaves of it.
template <class C>
struct Scores {
  void* mask;
  DType mask_dtype;
  int64_t strides[4];
  int64_t heads, queries, keys;
  C scale;
  bool causal, drops;
  uint64_t seed, offset, threshold;
  C factor;

  Scores(const View& view, const Attention& how, const View& q, const View& k)
      : mask(view.data),
        mask_dtype(view.dtype),
        strides{},
        heads(q.sizes[1]),
        queries(q.sizes[2]),
        keys(k.sizes[2]),
        scale(C(how.scale)),
        causal(how.causal),
        drops(how.dropout > 0),
        seed(how.seed),
        offset(how.offset),
        threshold(bernoulli_threshold(1 - how.dropout)),
        factor(how.dropout < 1 ? C(1 / (1 - how.dropout)) : C(0)) {
    if (view.data)
      for (int d = 0; d < 4; ++d) strides[d] = view.strides[d];
  }
  /// The first key that no query up to `last` sees.
  TD_DEVICE int64_t seen(int64_t last) const { return causal && last + 1 < keys ? last + 1 : keys; }
  /// From the products of query i and keys j … j + n - 1: -inf where one is not seen.
  template <int n>
  TD_DEVICE void operator()(C (&products)[n], int64_t b, int64_t h, int64_t i, int64_t j) const {
    const int64_t end = i >= queries ? 0 : seen(i);
    const int count = end - j < n ? static_cast<int>(end - j < 0 ? 0 : end - j) : n;
    const int64_t at = mask ? b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3] : 0;
    TD_UNROLL
    for (int c = 0; c < n; ++c) products[c] = c < count ? seen_score(products[c] * scale, at + c * strides[3]) : hidden();
  }
  /// What the weights of query i and keys j … j + n - 1 are multiplied by.
  template <int n>
  TD_DEVICE void dropout_factors(C (&factors)[n], int64_t b, int64_t h, int64_t i, int64_t j) const {
    const int64_t first = ((b * heads + h) * queries + i) * keys + j;
    PhiloxWords words{};
    TD_UNROLL
    for (int c = 0; c < n; ++c) {
      const auto at = static_cast<uint64_t>(first + c);
      if (c == 0 || at % 4 == 0) words = philox(seed, offset + at / 4);
      const uint32_t word = at % 4 == 0 ? words.word[0] : at % 4 == 1 ? words.word[1] : at % 4 == 2 ? words.word[2] : words.word[3];
      factors[c] = word < threshold ? factor : C(0);
    }
  }

 private:
  TD_DEVICE static C hidden() { return -std::numeric_limits<C>::infinity(); }
  TD_DEVICE C seen_score(C score, int64_t at) const {
    if (!mask) return score;
    if (mask_dtype == DType::Bool) return static_cast<const bool*>(mask)[at] ? score : hidden();
    return score + load<C>(mask, mask_dtype, at);
  }
};

/// Calls f.operator()<columns>() with how many columns of a result a group takes.
template <class C, class F>
void with_columns(int64_t wanted, F&& f) {
  if constexpr (sizeof(C) == 8) f.template operator()<32>();
  else if (wanted <= 32) f.template operator()<32>();
  else if (wanted <= 64) f.template operator()<64>();
  else f.template operator()<128>();
}

}  // namespace tandem::kernels::cuda
