// Attention of few queries where rows lie in vectors of 16 bytes. Queries and heads that share keys are taken together, up to four rows of
// the result to a warp, so that each key is loaded once for all of them. A few lanes, one vector each, hold a key; the parts of the warp
// that so arise take four keys at a time, each part others, with the largest score and the sums that it has met. At the end the parts are
// combined.
#pragma once

#include "kernels/cuda/attention_few.cuh"

namespace tandem::kernels::cuda {

/// What thread t ^ k has, for thread t of a warp.
template <class T>
TD_DEVICE Group<kWarp>::Local<T> swapped(Group<kWarp>& group, const Group<kWarp>::Local<T>& values, int k) {
  Group<kWarp>::Local<T> other;
#if defined(__CUDACC__)
  static_assert(sizeof(T) % 4 == 0);
  (void)group;
  uint32_t words[sizeof(T) / 4];
  memcpy(words, &values[0], sizeof(T));
  TD_UNROLL
  for (size_t i = 0; i < sizeof(T) / 4; ++i) words[i] = __shfl_xor_sync(~0U, words[i], k);
  memcpy(&other[0], words, sizeof(T));
#else
  group.each([&](int t) { other[t] = values[t ^ k]; });
#endif
  return other;
}

/// How rows of the result are taken together: `rows` of the `shared` ones that see the same keys - queries of a head, heads that share keys
/// - by a warp whose parts have `lanes` lanes.
struct Together {
  int64_t shared, heads;
  int rows = 0, lanes = 1;  // no rows: vectors do not fit

  Together(const View& q, const View& k, const View& v) : shared(q.sizes[1] / k.sizes[1] * q.sizes[2]), heads(k.sizes[1]) {
    const auto in_each = static_cast<int64_t>(16 / size_of(q.dtype));
    const int64_t vectors = (std::max(q.sizes[3], v.sizes[3]) + in_each - 1) / in_each;
    if (q.dtype == DType::Float64 || vectors > kWarp) return;
    for (const View* x : {&q, &k, &v}) {
      bool fits = x->sizes[3] % in_each == 0 && x->strides[3] == 1 && reinterpret_cast<uintptr_t>(x->data) % 16 == 0;
      for (int d = 0; d < 3; ++d) fits &= x->strides[d] % in_each == 0;
      if (!fits) return;
    }
    rows = shared == 1 ? 1 : 4;
    while (lanes < vectors) lanes *= 2;
  }
  /// Warps to a piece of the keys.
  [[nodiscard]] int64_t warps(const View& q) const { return q.sizes[0] * heads * ((shared + rows - 1) / rows); }
};

template <class T, int rows>
struct AttentionVectors {
  using C = Compute<T>;
  using Shared = NothingShared;
  static constexpr int kElements = 16 / sizeof(T), kKeys = 4;
  static constexpr int kBlocks = rows == 1 ? 2 : 1;  // at a time: it waits for memory
  struct alignas(16) Vector {
    T at[kElements];
  };
  /// Of one row of the result, as a part of the warp has it: the columns of one lane.
  struct Row {
    Vector query;
    C sums[kElements];
    C max, sum;
  };
  struct State {
    Row at[rows];
  };
  struct Products {
    C at[rows][kKeys];
  };

  Matrix<T> q, k, v;
  Result<T> result;
  Partial<C> partial;  // no data where there is one piece
  Scores<C> scores;
  int64_t group_size, shared;
  int lanes;
  Cut cut;
  Indices<4> parts;  // b, heads that share keys, rows, piece

  TD_DEVICE void operator()(Group<kWarp>& group, int64_t number, Shared&) const {
    int64_t part[4];
    parts(number, part);
    const int64_t b = part[0], first = part[2] * rows, begin = part[3] * cut.keys, seen = scores.seen(scores.queries - 1),
                  end = begin + cut.keys < seen ? begin + cut.keys : seen;
    const int there = shared - first < rows ? static_cast<int>(shared - first) : rows;
    const auto head = [&](int r) { return part[1] * group_size + (first + r) / scores.queries; };
    const auto query = [&](int r) { return (first + r) % scores.queries; };
    const auto column = [&](int t) { return int64_t{t & (lanes - 1)} * kElements; };
    Group<kWarp>::Local<State> state;
    group.each([&](int t) {
      TD_UNROLL
      for (int r = 0; r < rows; ++r) {
        Row& row = state[t].at[r];
        row.max = -std::numeric_limits<C>::infinity();
        row.sum = 0;
        row.query = r < there ? load(q.at(b, head(r)) + query(r) * q.row, column(t), q.columns) : Vector{};
        TD_UNROLL
        for (int e = 0; e < kElements; ++e) row.sums[e] = 0;
      }
    });
    const T *const keys = k.at(b, part[1]), *const values = v.at(b, part[1]);
    const int step = kWarp / lanes * kKeys;
    for (int64_t j = begin; j < end; j += step) {
      const auto own = [&](int t) { return j + t / lanes * kKeys; };
      Group<kWarp>::Local<Products> products;
      group.each([&](int t) {
        Vector key[kKeys];
        TD_UNROLL
        for (int n = 0; n < kKeys; ++n) key[n] = own(t) + n < end ? load(keys + (own(t) + n) * k.row, column(t), k.columns) : Vector{};
        TD_UNROLL
        for (int n = 0; n < kKeys; ++n) {
          TD_UNROLL
          for (int r = 0; r < rows; ++r) {
            C sum = 0;
            TD_UNROLL
            for (int e = 0; e < kElements; ++e) sum = fused(to_compute(state[t].at[r].query.at[e]), to_compute(key[n].at[e]), sum);
            products[t].at[r][n] = sum;
          }
        }
      });
      for (int by = lanes / 2; by > 0; by /= 2) {
        const auto other = swapped(group, products, by);
        group.each([&](int t) {
          TD_UNROLL
          for (int r = 0; r < rows; ++r) {
            TD_UNROLL
            for (int n = 0; n < kKeys; ++n) products[t].at[r][n] += other[t].at[r][n];
          }
        });
      }
      group.each([&](int t) {
        Vector value[kKeys];
        TD_UNROLL
        for (int n = 0; n < kKeys; ++n) value[n] = own(t) + n < end ? load(values + (own(t) + n) * v.row, column(t), v.columns) : Vector{};
        TD_UNROLL
        for (int r = 0; r < rows; ++r) {
          if (r >= there) continue;
          Row& row = state[t].at[r];
          C(&weights)[kKeys] = products[t].at[r];
          scores(weights, b, head(r), query(r), own(t));
          C highest = row.max;
          TD_UNROLL
          for (int n = 0; n < kKeys; ++n) {
            if (own(t) + n >= end) weights[n] = -std::numeric_limits<C>::infinity();
            highest = weights[n] > highest ? weights[n] : highest;
          }
          const C shift = finite(highest), by = math::exp(row.max - shift);
          row.max = highest;
          row.sum *= by;
          TD_UNROLL
          for (int n = 0; n < kKeys; ++n) {
            weights[n] = math::exp(weights[n] - shift);
            row.sum += weights[n];
          }
          if (scores.drops) {
            C factors[kKeys];
            scores.dropout_factors(factors, b, head(r), query(r), own(t));
            TD_UNROLL
            for (int n = 0; n < kKeys; ++n) weights[n] *= factors[n];
          }
          TD_UNROLL
          for (int e = 0; e < kElements; ++e) {
            C total = row.sums[e] * by;
            TD_UNROLL
            for (int n = 0; n < kKeys; ++n) total = fused(weights[n], to_compute(value[n].at[e]), total);
            row.sums[e] = total;
          }
        }
      });
    }
    for (int by = lanes; by < kWarp; by *= 2) {
      const auto other = swapped(group, state, by);
      group.each([&](int t) {
        TD_UNROLL
        for (int r = 0; r < rows; ++r) join(state[t].at[r], other[t].at[r], (t & by) != 0);
      });
    }
    group.each([&](int t) {
      if (t >= lanes) return;
      TD_UNROLL
      for (int r = 0; r < rows; ++r)
        if (r < there) put(state[t].at[r], b, head(r), query(r), part[3], column(t));
    });
  }

 private:
  /// A lane's vector of a row, zeros beyond its columns.
  TD_DEVICE static Vector load(const T* row, int64_t column, int64_t columns) {
    return column < columns ? *reinterpret_cast<const Vector*>(row + column) : Vector{};
  }
  /// What exponents are shifted by: 0 where nothing was seen.
  TD_DEVICE static C finite(C max) { return max == -std::numeric_limits<C>::infinity() ? C(0) : max; }
  /// Both threads of a pair compute the same: the lower one's part comes first.
  TD_DEVICE static void join(Row& row, const Row& other, bool upper) {
    const C max = other.max > row.max ? other.max : row.max, shift = finite(max);
    const C by = math::exp(row.max - shift), other_by = math::exp(other.max - shift);
    const auto joined = [&](C a, C b) {
      a *= by;
      b *= other_by;
      return upper ? b + a : a + b;
    };
    row.max = max;
    row.sum = joined(row.sum, other.sum);
    TD_UNROLL
    for (int e = 0; e < kElements; ++e) row.sums[e] = joined(row.sums[e], other.sums[e]);
  }
  TD_DEVICE void put(const Row& row, int64_t b, int64_t h, int64_t i, int64_t piece, int64_t column) const {
    const int64_t number = (b * scores.heads + h) * scores.queries + i;
    if (partial.data) {
      C* const to = partial.of(number, cut.count, piece);
      if (column == 0) {
        to[0] = row.max;
        to[1] = row.sum;
      }
      TD_UNROLL
      for (int e = 0; e < kElements; ++e)
        if (column + e < v.columns) to[2 + column + e] = row.sums[e];
      return;
    }
    T* const to = result.out.at(b, h) + i * result.out.row;
    const C by = row.sum == 0 ? C(0) : 1 / row.sum;  // nothing was seen
    TD_UNROLL
    for (int e = 0; e < kElements; ++e)
      if (column + e < v.columns) to[column + e] = to_element<T>(row.sums[e] * by);
    if (result.normalizer && column == 0) result.normalizer[number] = row.max + math::log(row.sum);
  }
};

}  // namespace tandem::kernels::cuda
