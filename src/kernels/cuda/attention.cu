// Attention by tiles of queries and keys in shared memory, with the largest score and the sum of exponentials so far (FlashAttention: Dao
// et al., 2022). A group of 256 threads takes a tile of queries and some columns of the result, goes through the keys tile by tile, and
// holds its sums in registers: 16 by 16 threads, each with a block of the tile. The three gradients are one kernel: a tile of rows -
// queries for q's, keys for the others' - and some columns, going through the other side; weights are made again from the logarithm of
// their sum. Nothing is summed by two groups, so results are the same each time. Few queries go another way: attention_few.cu.
#include <limits>

#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

constexpr int kSide = 16;   // threads along a side of a tile
constexpr int kDepth = 16;  // of the pieces of operands in shared memory
static_assert(kSide * kSide == kThreads);

/// The shape of tiles: of scores `kRows` a side, and a result of kColumns columns; kEach, kWide: what a thread has of both.
template <class C, int columns>
struct Tile {
  static constexpr int kRows = sizeof(C) == 8 ? 32 : 64, kColumns = columns;
  static constexpr int kEach = kRows / kSide, kWide = kColumns / kSide;
  static constexpr int kBlocks = kColumns <= 64 ? 2 : 1;  // at a time: as many as the sums leave registers for
};

/// Pieces of two operands, (kDepth, kRows): rows longer than needed, so that threads that write a column of it use different banks.
template <class C, int rows>
struct Pieces {
  alignas(16) C left[kDepth][rows + 4], right[kDepth][rows + 4];
};

/// What a thread has of a tile.
template <class C, int down, int across>
struct Block {
  C at[down][across];
};

/// sums = the products of rows i … of `left` with rows j … of `right`, a block a thread: thread t has rows kEach (t / kSide) … and columns
/// kEach (t % kSide) ….
template <class Shape, class C, class L, class R, class Local, class Shared>
TD_DEVICE void multiply_rows(Group<kThreads>& group, Local& sums, Shared& pieces, const Matrix<L>& left, const L* left_at, int64_t i,
                             const Matrix<R>& right, const R* right_at, int64_t j) {
  constexpr int rows = Shape::kRows, each = Shape::kEach;
  group.each([&](int t) {
    TD_UNROLL
    for (int r = 0; r < each; ++r) TD_UNROLL
    for (int c = 0; c < each; ++c) sums[t].at[r][c] = 0;
  });
  for (int64_t k = 0; k < left.columns; k += kDepth) {
    group.each([&](int t) {
      const auto from_left = left.rest(left_at, i, k);
      const auto from_right = right.rest(right_at, j, k);
      TD_UNROLL
      for (int f = 0; f < rows * kDepth / kThreads; ++f) {
        const int e = t + f * kThreads, line = e / kDepth, depth = e % kDepth;
        pieces.left[depth][line] = from_left(line, depth);
        pieces.right[depth][line] = from_right(line, depth);
      }
    });
    group.each([&](int t) {
      const int down = t / kSide * each, across = t % kSide * each;
      TD_UNROLL
      for (int depth = 0; depth < kDepth; ++depth) {
        C a[each], b[each];
        TD_UNROLL
        for (int e = 0; e < each; ++e) {
          a[e] = pieces.left[depth][down + e];
          b[e] = pieces.right[depth][across + e];
        }
        TD_UNROLL
        for (int r = 0; r < each; ++r) TD_UNROLL
        for (int c = 0; c < each; ++c) sums[t].at[r][c] = fused(a[r], b[c], sums[t].at[r][c]);
      }
    });
  }
}

/// sums += the weights in shared memory, or their transpose, times rows j … of `other`, columns `first` …; thread t has rows
/// kEach (t / kSide) … and columns t % kSide, kSide further, ….
template <class Shape, bool transposed, class C, class T, class Local, class Weights, class Shared>
TD_DEVICE void multiply_weights(Group<kThreads>& group, Local& sums, const Weights& weights, Shared& values, const Matrix<T>& other,
                                const T* other_at, int64_t j, int64_t first) {
  constexpr int rows = Shape::kRows, each = Shape::kEach, wide = Shape::kWide;
  for (int k = 0; k < rows && j + k < other.rows; k += kDepth) {
    group.each([&](int t) {
      const auto from = other.rest(other_at, j + k, first);
      TD_UNROLL
      for (int f = 0; f < kDepth * Shape::kColumns / kThreads; ++f) {
        const int e = t + f * kThreads, line = e / Shape::kColumns, column = e % Shape::kColumns;
        values[line][column] = from(line, column);
      }
    });
    group.each([&](int t) {
      const int down = t / kSide * each, across = t % kSide;
      TD_UNROLL
      for (int depth = 0; depth < kDepth; ++depth) {
        C a[each];
        TD_UNROLL
        for (int r = 0; r < each; ++r) a[r] = transposed ? weights[k + depth][down + r] : weights[down + r][k + depth];
        TD_UNROLL
        for (int c = 0; c < wide; ++c) {
          const C b = values[depth][across + c * kSide];
          TD_UNROLL
          for (int r = 0; r < each; ++r) sums[t].at[r][c] = fused(a[r], b, sums[t].at[r][c]);
        }
      }
    });
  }
}

template <class T, int columns>
struct AttentionForward {
  using C = Compute<T>;
  using Shape = Tile<C, columns>;
  static constexpr int kRows = Shape::kRows, kEach = Shape::kEach, kWide = Shape::kWide;
  static constexpr int kBlocks = Shape::kBlocks;

  struct Shared {
    Pieces<C, kRows> pieces;
    C weights[kRows][kRows + 4];
    C values[kDepth][Shape::kColumns];
    C partial[kRows][kSide + 1];  // of each thread in a row: the maximum of its scores, then its sum of exponentials
  };
  /// Of the rows of a thread: the maximum of the scores so far, and the sum of exponentials over its own columns.
  struct RowState {
    C max[kEach], sum[kEach];
  };

  Matrix<T> q, k, v, out;
  C* normalizer;
  Scores<C> scores;
  int64_t group_size;  // heads that share keys
  Indices<4> tiles;    // b, h, tile of queries, columns

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t number, Shared& shared) const {
    int64_t tile[4];
    tiles(number, tile);
    const int64_t b = tile[0], h = tile[1], i0 = tile[2] * kRows, first = tile[3] * Shape::kColumns;
    const T *const query = q.at(b, h), *const key = k.at(b, h / group_size), *const value = v.at(b, h / group_size);
    typename Group<kThreads>::template Local<Block<C, kEach, kEach>> block;
    typename Group<kThreads>::template Local<Block<C, kEach, kWide>> sums;
    typename Group<kThreads>::template Local<RowState> rows;
    group.each([&](int t) {
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) {
        rows[t].max[r] = -std::numeric_limits<C>::infinity();
        rows[t].sum[r] = 0;
        TD_UNROLL
        for (int c = 0; c < kWide; ++c) sums[t].at[r][c] = 0;
      }
    });
    const int64_t seen = scores.seen(i0 + kRows - 1);
    for (int64_t j0 = 0; j0 < seen; j0 += kRows) {
      multiply_rows<Shape, C>(group, block, shared.pieces, q, query, i0, k, key, j0);
      group.each([&](int t) {
        const int down = t / kSide * kEach, across = t % kSide * kEach;
        TD_UNROLL
        for (int r = 0; r < kEach; ++r) {
          C max = -std::numeric_limits<C>::infinity();
          scores(block[t].at[r], b, h, i0 + down + r, j0 + across);
          TD_UNROLL
          for (int c = 0; c < kEach; ++c) max = block[t].at[r][c] > max ? block[t].at[r][c] : max;
          shared.partial[down + r][t % kSide] = max;
        }
      });
      group.each([&](int t) {
        const int down = t / kSide * kEach, across = t % kSide * kEach;
        TD_UNROLL
        for (int r = 0; r < kEach; ++r) {
          C max = rows[t].max[r];
          for (int s = 0; s < kSide; ++s) {
            const C other = shared.partial[down + r][s];
            max = other > max ? other : max;
          }
          const C shift = max == -std::numeric_limits<C>::infinity() ? C(0) : max;
          const C by = math::exp(rows[t].max[r] - shift);
          rows[t].max[r] = max;
          C sum = 0;
          TD_UNROLL
          for (int c = 0; c < kEach; ++c) {
            block[t].at[r][c] = math::exp(block[t].at[r][c] - shift);
            sum += block[t].at[r][c];
          }
          rows[t].sum[r] = rows[t].sum[r] * by + sum;
          TD_UNROLL
          for (int c = 0; c < kWide; ++c) sums[t].at[r][c] *= by;
          C factors[kEach];
          if (scores.drops) scores.dropout_factors(factors, b, h, i0 + down + r, j0 + across);
          TD_UNROLL
          for (int c = 0; c < kEach; ++c)
            shared.weights[down + r][across + c] = scores.drops ? block[t].at[r][c] * factors[c] : block[t].at[r][c];
        }
      });
      multiply_weights<Shape, false, C>(group, sums, shared.weights, shared.values, v, value, j0, first);
    }
    group.each([&](int t) {
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) shared.partial[t / kSide * kEach + r][t % kSide] = rows[t].sum[r];
    });
    group.each([&](int t) {
      const int down = t / kSide * kEach, across = t % kSide;
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) {
        C sum = 0;
        for (int s = 0; s < kSide; ++s) sum += shared.partial[down + r][s];
        const int64_t i = i0 + down + r;
        if (i >= q.rows) continue;
        if (normalizer && first == 0 && across == 0) normalizer[(b * scores.heads + h) * q.rows + i] = rows[t].max[r] + math::log(sum);
        const C by = sum == 0 ? C(0) : 1 / sum;
        T* const to = out.at(b, h) + i * out.row;
        TD_UNROLL
        for (int c = 0; c < kWide; ++c)
          if (const int64_t column = first + across + c * kSide; column < v.columns) to[column] = to_element<T>(sums[t].at[r][c] * by);
      }
    });
  }
};

/// delta (b, h, m) = the sums of grad * out along rows: a warp a row.
template <class T>
struct AttentionDelta {
  using Shared = NothingShared;
  using C = Compute<T>;
  Matrix<T> grad, out;
  C* delta;
  Indices<3> rows;  // b, h, i

  TD_DEVICE void operator()(Group<kWarp>& group, int64_t number, Shared&) const {
    int64_t at[3];
    rows(number, at);
    const T *const g = grad.at(at[0], at[1]) + at[2] * grad.row, *const y = out.at(at[0], at[1]) + at[2] * out.row;
    Group<kWarp>::Local<C> sums;
    group.each([&](int t) {
      C sum = 0;
      for (int64_t c = t; c < out.columns; c += kWarp) sum = fused(to_compute(g[c]), to_compute(y[c]), sum);
      sums[t] = sum;
    });
    const C sum = group.reduce(sums, [](C a, C b) { return a + b; });
    group.once([&] { delta[number] = sum; });
  }
};

enum class Gradient : uint8_t { Queries, Keys, Values };

template <class T, int columns, Gradient of>
struct AttentionGradient {
  using C = Compute<T>;
  using Shape = Tile<C, columns>;
  static constexpr int kRows = Shape::kRows, kEach = Shape::kEach, kWide = Shape::kWide;
  static constexpr bool kByQueries = of == Gradient::Queries;
  static constexpr int kBlocks = of == Gradient::Keys && columns > 32 ? 1 : Shape::kBlocks;  // two would spill a little

  struct Shared {
    Pieces<C, kRows> pieces;
    C weights[kRows][kRows + 4];  // by queries and keys: of the result, or of the scores' gradient
    C values[kDepth][Shape::kColumns];
  };

  Matrix<T> q, k, v, grad, result;
  const C *normalizer, *delta;
  Scores<C> scores;
  int64_t group_size;  // heads that share keys
  Indices<4> tiles;    // b, h or g, tile of queries or keys, columns

  TD_DEVICE void operator()(Group<kThreads>& group, int64_t number, Shared& shared) const {
    int64_t tile[4];
    tiles(number, tile);
    const int64_t b = tile[0], head = tile[1], row = tile[2] * kRows, first = tile[3] * Shape::kColumns;
    typename Group<kThreads>::template Local<Block<C, kEach, kWide>> sums;
    group.each([&](int t) {
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) TD_UNROLL
      for (int c = 0; c < kWide; ++c) sums[t].at[r][c] = 0;
    });
    if constexpr (kByQueries) {
      const int64_t seen = scores.seen(row + kRows - 1);
      for (int64_t j = 0; j < seen; j += kRows) take(group, sums, shared, b, head, row, j, first);
    } else {
      for (int64_t h = head * group_size; h < (head + 1) * group_size; ++h)
        for (int64_t i = 0; i < q.rows; i += kRows)
          if (scores.seen(i + kRows - 1) > row) take(group, sums, shared, b, h, i, row, first);
    }
    group.each([&](int t) {
      const C by = of == Gradient::Values ? C(1) : scores.scale;
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) {
        const int64_t i = row + t / kSide * kEach + r;
        if (i >= result.rows) continue;
        T* const to = result.at(b, head) + i * result.row;
        TD_UNROLL
        for (int c = 0; c < kWide; ++c)
          if (const int64_t column = first + t % kSide + c * kSide; column < result.columns)
            to[column] = to_element<T>(sums[t].at[r][c] * by);
      }
    });
  }

 private:
  /// Adds what queries i … and keys j … of head h give.
  template <class Sums>
  TD_DEVICE void take(Group<kThreads>& group, Sums& sums, Shared& shared, int64_t b, int64_t h, int64_t i, int64_t j, int64_t first) const {
    const T *const query = q.at(b, h), *const key = k.at(b, h / group_size), *const value = v.at(b, h / group_size),
                   *const above = grad.at(b, h);
    typename Group<kThreads>::template Local<Block<C, kEach, kEach>> block, above_block;
    multiply_rows<Shape, C>(group, block, shared.pieces, q, query, i, k, key, j);
    if constexpr (of != Gradient::Values) multiply_rows<Shape, C>(group, above_block, shared.pieces, grad, above, i, v, value, j);
    group.each([&](int t) {
      const int down = t / kSide * kEach, across = t % kSide * kEach;
      TD_UNROLL
      for (int r = 0; r < kEach; ++r) {
        const int64_t at = i + down + r, line = (b * scores.heads + h) * q.rows + at;
        C factors[kEach];
        if (scores.drops) scores.dropout_factors(factors, b, h, at, j + across);
        const auto drop = [&](C(&values)[kEach]) {
          if (!scores.drops) return;
          TD_UNROLL
          for (int c = 0; c < kEach; ++c) values[c] *= factors[c];
        };
        if constexpr (of != Gradient::Values) drop(above_block[t].at[r]);
        C log_sum = at < q.rows ? normalizer[line] : C(0);
        if (log_sum == -std::numeric_limits<C>::infinity()) log_sum = -log_sum;  // nothing is seen: all weights are 0
        scores(block[t].at[r], b, h, at, j + across);
        TD_UNROLL
        for (int c = 0; c < kEach; ++c) block[t].at[r][c] = math::exp(block[t].at[r][c] - log_sum);
        if constexpr (of == Gradient::Values) drop(block[t].at[r]);
        const C mean = of != Gradient::Values && at < q.rows ? delta[line] : C(0);
        TD_UNROLL
        for (int c = 0; c < kEach; ++c)
          shared.weights[down + r][across + c] =
              of == Gradient::Values ? block[t].at[r][c] : block[t].at[r][c] * (above_block[t].at[r][c] - mean);
      }
    });
    if constexpr (of == Gradient::Queries) multiply_weights<Shape, false, C>(group, sums, shared.weights, shared.values, k, key, j, first);
    else if constexpr (of == Gradient::Keys)
      multiply_weights<Shape, true, C>(group, sums, shared.weights, shared.values, q, query, i, first);
    else multiply_weights<Shape, true, C>(group, sums, shared.weights, shared.values, grad, above, i, first);
  }
};

template <int rows, int columns>
Indices<4> tiles_of(int64_t b, int64_t heads, int64_t lines, int64_t across) {
  const int64_t sizes[4] = {b, heads, (lines + rows - 1) / rows, (across + columns - 1) / columns};
  return Indices<4>(sizes);
}

}  // namespace

void attention(const Queue& queue, Out out, Out normalizer, View q, View k, View v, View mask, Attention how, void* workspace) {
  if (has_few_queries(q)) return attention_of_few(queue, out, normalizer, q, k, v, mask, how, workspace);
  visit_floating(q.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = Compute<T>;
    with_columns<C>(v.sizes[3], [&]<int columns>() {
      const auto tiles = tiles_of<Tile<C, columns>::kRows, columns>(q.sizes[0], q.sizes[1], q.sizes[2], v.sizes[3]);
      for_groups<kThreads>(queue, tiles.count,
                           AttentionForward<T, columns>{Matrix<T>(q), Matrix<T>(k), Matrix<T>(v), Matrix<T>(out), normalizer.as<C>(),
                                                        Scores<C>(mask, how, q, k), q.sizes[1] / k.sizes[1], tiles});
    });
  });
}

void attention_backward(const Queue& queue, Out q_grad, Out k_grad, Out v_grad, View grad, View q, View k, View v, View mask, View out,
                        View normalizer, Attention how, void* workspace) {
  visit_floating(q.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = Compute<T>;
    auto* const delta = static_cast<C*>(workspace);
    const Indices<3> rows(q.sizes);
    for_groups<kWarp>(queue, rows.count, AttentionDelta<T>{Matrix<T>(grad), Matrix<T>(out), delta, rows});
    const auto launch = [&]<Gradient of>(const View& result) {
      with_columns<C>(result.sizes[3], [&]<int columns>() {
        const auto tiles = tiles_of<Tile<C, columns>::kRows, columns>(q.sizes[0], result.sizes[1], result.sizes[2], result.sizes[3]);
        for_groups<kThreads>(
            queue, tiles.count,
            AttentionGradient<T, columns, of>{Matrix<T>(q), Matrix<T>(k), Matrix<T>(v), Matrix<T>(grad), Matrix<T>(result),
                                              normalizer.as<C>(), delta, Scores<C>(mask, how, q, k), q.sizes[1] / k.sizes[1], tiles});
      });
    };
    launch.template operator()<Gradient::Queries>(q_grad);
    launch.template operator()<Gradient::Keys>(k_grad);
    launch.template operator()<Gradient::Values>(v_grad);
  });
}

size_t attention_workspace(const View& q, const View& k, const View& v, const View&, const Attention&, bool backward) {
  if (backward) return static_cast<size_t>(q.sizes[0] * q.sizes[1] * q.sizes[2]) * (q.dtype == kFloat64 ? 8 : 4);
  return has_few_queries(q) ? attention_of_few_workspace(q, k, v) : 0;
}

}  // namespace tandem::kernels::cuda
