// Attention of few queries. The keys of each query are cut into pieces, by sizes alone, so that there are warps enough for a GPU. A warp
// takes a piece of one query, eight keys at a time: its lanes share out the columns, with the largest score and the sum of exponentials so
// far. A second kernel, a warp to a query, combines the pieces in their order.
#include <algorithm>

#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

constexpr int kTogether = 8;       // keys
constexpr int64_t kShortest = 64;  // a piece, but for the last
constexpr int64_t kWanted = 4096;  // warps, where there are keys enough
static_assert(kShortest % kTogether == 0);

/// How the keys of a query are cut: `count` pieces of `keys`, the last one shorter.
struct Cut {
  int64_t keys, count;

  Cut(const View& q, const View& k) {
    const int64_t rows = q.sizes[0] * q.sizes[1] * q.sizes[2], all = k.sizes[2];
    const int64_t most = std::max<int64_t>((all + kShortest - 1) / kShortest, 1), wanted = std::max<int64_t>(kWanted / rows, 1);
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

template <class T, int columns>
struct AttentionPiece {
  using C = Compute<T>;
  using Shared = NothingShared;
  static constexpr int kWide = columns / kWarp;
  struct Keys {
    C at[kTogether];
  };
  struct Columns {
    C at[kWide];
  };

  Matrix<T> q, k, v;
  Result<T> result;
  Partial<C> partial;  // no data where there is one piece
  Scores<C> scores;
  int64_t group_size;  // heads that share keys
  Cut cut;
  Indices<5> parts;  // b, h, query, piece, columns

  TD_DEVICE void operator()(Group<kWarp>& group, int64_t number, Shared&) const {
    int64_t part[5];
    parts(number, part);
    const int64_t b = part[0], h = part[1], i = part[2], begin = part[3] * cut.keys, first = part[4] * columns;
    const int64_t seen = scores.seen(i), end = begin + cut.keys < seen ? begin + cut.keys : seen;
    const T *const query = q.at(b, h) + i * q.row, *const key = k.at(b, h / group_size), *const value = v.at(b, h / group_size) + first;
    Group<kWarp>::Local<Columns> sums;
    group.each([&](int t) {
      TD_UNROLL
      for (int w = 0; w < kWide; ++w) sums[t].at[w] = 0;
    });
    C max = -std::numeric_limits<C>::infinity(), sum = 0;
    for (int64_t j = begin; j < end; j += kTogether) {
      Group<kWarp>::Local<Keys> products;
      group.each([&](int t) {
        Keys mine{};
        for (int64_t c = t; c < q.columns; c += kWarp) {
          const C x = to_compute(query[c]);
          TD_UNROLL
          for (int n = 0; n < kTogether; ++n)
            if (j + n < end) mine.at[n] = fused(x, to_compute(key[(j + n) * k.row + c]), mine.at[n]);
        }
        products[t] = mine;
      });
      Keys weights = group.reduce(products, [](Keys x, const Keys& y) {
        TD_UNROLL
        for (int n = 0; n < kTogether; ++n) x.at[n] += y.at[n];
        return x;
      });
      scores(weights.at, b, h, i, j);
      C highest = max;
      TD_UNROLL
      for (int n = 0; n < kTogether; ++n) highest = weights.at[n] > highest ? weights.at[n] : highest;
      const C shift = highest == -std::numeric_limits<C>::infinity() ? C(0) : highest, by = math::exp(max - shift);
      max = highest;
      sum *= by;
      TD_UNROLL
      for (int n = 0; n < kTogether; ++n) {
        weights.at[n] = math::exp(weights.at[n] - shift);
        sum += weights.at[n];
      }
      if (scores.drops) {
        C factors[kTogether];
        scores.dropout_factors(factors, b, h, i, j);
        TD_UNROLL
        for (int n = 0; n < kTogether; ++n) weights.at[n] *= factors[n];
      }
      group.each([&](int t) {
        TD_UNROLL
        for (int w = 0; w < kWide; ++w) {
          const int64_t column = t + w * kWarp;
          if (first + column >= v.columns) continue;
          C total = sums[t].at[w] * by;
          TD_UNROLL
          for (int n = 0; n < kTogether; ++n)
            if (j + n < end) total = fused(weights.at[n], to_compute(value[(j + n) * v.row + column]), total);
          sums[t].at[w] = total;
        }
      });
    }
    const int64_t row = (b * scores.heads + h) * scores.queries + i;
    if (!partial.data) {
      group.each([&](int t) { result.template store<kWide>(b, h, i, first, t, sum, [&](int w) { return sums[t].at[w]; }); });
      if (result.normalizer && first == 0) group.once([&] { result.normalizer[row] = max + math::log(sum); });
      return;
    }
    C* const to = partial.of(row, cut.count, part[3]);
    group.each([&](int t) {
      TD_UNROLL
      for (int w = 0; w < kWide; ++w)
        if (const int64_t column = first + t + w * kWarp; column < v.columns) to[2 + column] = sums[t].at[w];
    });
    if (first == 0) {
      group.once([&] {
        to[0] = max;
        to[1] = sum;
      });
    }
  }
};

template <class T, int columns>
struct AttentionCombine {
  using C = Compute<T>;
  using Shared = NothingShared;
  static constexpr int kWide = columns / kWarp;
  struct Columns {
    C at[kWide];
  };

  Result<T> result;
  Partial<C> partial;
  int64_t heads, queries, pieces;
  Indices<4> parts;  // b, h, query, columns

  TD_DEVICE void operator()(Group<kWarp>& group, int64_t number, Shared&) const {
    int64_t part[4];
    parts(number, part);
    const int64_t b = part[0], h = part[1], i = part[2], first = part[3] * columns, row = (b * heads + h) * queries + i;
    Group<kWarp>::Local<C> local;
    group.each([&](int t) {
      C max = -std::numeric_limits<C>::infinity();
      for (int64_t p = t; p < pieces; p += kWarp) {
        const C other = partial.of(row, pieces, p)[0];
        max = other > max ? other : max;
      }
      local[t] = max;
    });
    const C max = group.reduce(local, [](C x, C y) { return y > x ? y : x; });
    const C shift = max == -std::numeric_limits<C>::infinity() ? C(0) : max;
    group.each([&](int t) {
      C sum = 0;
      for (int64_t p = t; p < pieces; p += kWarp) {
        const C* const from = partial.of(row, pieces, p);
        sum += from[1] * math::exp(from[0] - shift);
      }
      local[t] = sum;
    });
    const C sum = group.reduce(local, [](C x, C y) { return x + y; });
    group.each([&](int t) {
      Columns sums{};
      for (int64_t p = 0; p < pieces; ++p) {
        const C* const from = partial.of(row, pieces, p);
        const C by = math::exp(from[0] - shift);
        TD_UNROLL
        for (int w = 0; w < kWide; ++w)
          if (const int64_t column = first + t + w * kWarp; column < partial.columns) sums.at[w] = fused(by, from[2 + column], sums.at[w]);
      }
      result.template store<kWide>(b, h, i, first, t, sum, [&](int w) { return sums.at[w]; });
    });
    if (result.normalizer && first == 0) group.once([&] { result.normalizer[row] = max + math::log(sum); });
  }
};

}  // namespace

void attention_of_few(const Queue& queue, const Out& out, const Out& normalizer, const View& q, const View& k, const View& v,
                      const View& mask, const Attention& how, void* workspace) {
  const Cut cut(q, k);
  visit_floating(q.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = Compute<T>;
    const Result<T> result{Matrix<T>(out), normalizer.as<C>()};
    const Partial<C> partial{cut.count > 1 ? static_cast<C*>(workspace) : nullptr, v.sizes[3]};
    with_columns<C>(v.sizes[3], [&]<int columns>() {
      const int64_t across = (v.sizes[3] + columns - 1) / columns;
      const int64_t sizes[5] = {q.sizes[0], q.sizes[1], q.sizes[2], cut.count, across};
      const Indices<5> parts(sizes);
      for_groups<kWarp>(queue, parts.count,
                        AttentionPiece<T, columns>{Matrix<T>(q), Matrix<T>(k), Matrix<T>(v), result, partial, Scores<C>(mask, how, q, k),
                                                   q.sizes[1] / k.sizes[1], cut, parts});
      if (cut.count == 1) return;
      const int64_t whole[4] = {q.sizes[0], q.sizes[1], q.sizes[2], across};
      const Indices<4> rows(whole);
      for_groups<kWarp>(queue, rows.count, AttentionCombine<T, columns>{result, partial, q.sizes[1], q.sizes[2], cut.count, rows});
    });
  });
}

size_t attention_of_few_workspace(const View& q, const View& k, const View& v) {
  const Cut cut(q, k);
  if (cut.count == 1) return 0;
  return static_cast<size_t>(q.sizes[0] * q.sizes[1] * q.sizes[2] * cut.count * (v.sizes[3] + 2)) * (q.dtype == kFloat64 ? 8 : 4);
}

}  // namespace tandem::kernels::cuda
