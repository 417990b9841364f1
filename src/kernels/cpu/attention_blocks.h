// What attention's two directions share: sizes, operands as dense blocks of the type that is computed in, masks, dropout, and how tasks are
// shared out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/shares.h"
#include "kernels/cpu/workspace.h"
#include "kernels/random.h"

namespace tandem::kernels::cpu {

/// A block of scores, which stays in the second cache with what it is made from. Transposed keys lie in panels, as wide as what the dense
/// products keep in registers, so that they fill the first cache evenly whatever the number of keys.
inline constexpr int64_t kQueryBlock = 64, kKeyBlock = 128, kKeyPanel = 64;
static_assert(kKeyBlock % kKeyPanel == 0 && kQueryBlock >= kKeyPanel);
inline constexpr int64_t kFewQueries = 8;  // up to which inner products with the keys as they lie are faster

inline int64_t blocks_of(int64_t count, int64_t block) { return (count + block - 1) / block; }

template <class T>
void scale(T* values, int64_t n, double factor) {
  isa().optimizers[sizeof(T) == 8].scale(values, n, factor);
}
template <class T>
void apply(PointwiseOp op, T* values, const T* others, int64_t n) {
  const void* const inputs[] = {values, others};
  tile_of<T>(op)(values, inputs, n);
}

/// The sizes that kernels/entries.def names.
struct AttentionSizes {
  int64_t b, h, g, m, n, d, e;

  AttentionSizes(const View& q, const View& k, const View& v)
      : b(q.sizes[0]), h(q.sizes[1]), g(k.sizes[1]), m(q.sizes[2]), n(k.sizes[2]), d(q.sizes[3]), e(v.sizes[3]) {}
  /// How many heads share keys and values.
  [[nodiscard]] int64_t group() const { return h / g; }
  [[nodiscard]] bool few_queries() const { return m * group() <= kFewQueries; }
  [[nodiscard]] int64_t query_blocks() const { return blocks_of(m, kQueryBlock); }
  /// Multiplications of the two products.
  [[nodiscard]] double products() const { return static_cast<double>(b * h * m) * static_cast<double>(n * (d + e)); }
};

/// The matrices of a view (b, heads, rows, columns) with contiguous columns.
template <class T>
struct Heads {
  const View& view;

  [[nodiscard]] bool own() const { return view.dtype == dtype_of<T>(); }
  [[nodiscard]] int64_t columns() const { return view.sizes[3]; }
  [[nodiscard]] bool dense_rows() const { return own() && (view.strides[2] == columns() || view.sizes[2] == 1); }
  [[nodiscard]] char* row(int64_t b, int64_t head, int64_t i) const {
    return view.as<char>() +
           (b * view.strides[0] + head * view.strides[1] + i * view.strides[2]) * static_cast<int64_t>(size_of(view.dtype));
  }
  /// Rows as T, one after another in `to`.
  void read(T* to, int64_t b, int64_t head, int64_t i, int64_t count) const {
    const auto pack = pack_to<T>(view.dtype);
    for (int64_t r = 0; r < count; ++r) pack(to + r * columns(), row(b, head, i + r), 1, columns());
  }
  /// The same; without a copy where they are dense rows of T already.
  const T* at(int64_t b, int64_t head, int64_t i, int64_t count, T* buffer) const {
    if (dense_rows()) return reinterpret_cast<const T*>(row(b, head, i));
    read(buffer, b, head, i, count);
    return buffer;
  }
  /// The reverse of `read`.
  void write(const T* from, int64_t b, int64_t head, int64_t i, int64_t count) const {
    const auto unpack = unpack_from<T>(view.dtype);
    for (int64_t r = 0; r < count; ++r) unpack(row(b, head, i + r), 1, from + r * columns(), columns());
  }
};

/// Transposes `count` dense rows of `length` into panels (length, kKeyPanel).
template <class T>
void to_panels(T* panels, const T* rows, int64_t count, int64_t length) {
  for (int64_t j = 0; j < count; j += kKeyPanel, panels += length * kKeyPanel)
    product_functions<T>().transpose(panels, kKeyPanel, rows + j * length, length, length, std::min(kKeyPanel, count - j));
}
/// out (m, n) = a (m, length) times the n columns that panels hold.
template <class T>
void times_panels(T* out, int64_t out_row, const T* a, const T* panels, int64_t m, int64_t n, int64_t length) {
  for (int64_t j = 0; j < n; j += kKeyPanel, panels += length * kKeyPanel)
    product_functions<T>().rows({.out = out + j,
                                 .a = a,
                                 .b = panels,
                                 .m = m,
                                 .n = std::min(kKeyPanel, n - j),
                                 .k = length,
                                 .out_row = out_row,
                                 .a_row = length,
                                 .a_column = 1,
                                 .b_row = kKeyPanel,
                                 .b_column = 1});
}

/// The same with n columns that are dense in memory.
template <class T>
void times_columns(T* out, int64_t out_row, const T* a, const T* columns, int64_t m, int64_t n, int64_t length) {
  product_functions<T>().columns({.out = out,
                                  .a = a,
                                  .b = columns,
                                  .m = m,
                                  .n = n,
                                  .k = length,
                                  .out_row = out_row,
                                  .a_row = length,
                                  .a_column = 1,
                                  .b_row = 1,
                                  .b_column = length});
}

/// What hides keys from queries, and what is added to scores.
template <class T>
struct AttentionMask {
  const View& mask;
  bool causal;

  /// The keys that queries up to `last` may see at all.
  [[nodiscard]] int64_t seen(int64_t last, int64_t n) const { return causal ? std::min(n, last + 1) : n; }
  /// Changes the scores of query i for keys j … j + n - 1, n <= kKeyBlock.
  void operator()(T* scores, int64_t b, int64_t head, int64_t i, int64_t j, int64_t n) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    if (mask.data) {
      alignas(64) T added[kKeyBlock];
      const int64_t at = b * mask.strides[0] + head * mask.strides[1] + i * mask.strides[2] + j * mask.strides[3];
      const char* const from = mask.as<char>() + at * static_cast<int64_t>(size_of(mask.dtype));
      pack_to<T>(mask.dtype)(added, from, mask.strides[3], n);
      if (mask.dtype == kBool)
        for (int64_t c = 0; c < n; ++c) added[c] = added[c] != 0 ? T(0) : hidden;
      apply(PointwiseOp::add, scores, added, n);
    }
    if (causal && i < j + n - 1) std::fill(scores + std::max<int64_t>(0, i + 1 - j), scores + n, hidden);
  }
};

/// What weights are multiplied by: 0 or 1 / (1 - p), decided as the `dropout` entry would.
template <class T>
struct AttentionDropout {
  uint64_t seed, offset, threshold;
  T factor;

  explicit AttentionDropout(const Attention& how)
      : seed(how.seed),
        offset(how.offset),
        threshold(bernoulli_threshold(1 - how.dropout)),
        factor(how.dropout < 1 ? T(1 / (1 - how.dropout)) : T(0)) {}
  /// For weights `first` … `first` + n - 1, n <= kKeyBlock.
  void operator()(T* factors, int64_t first, int64_t n) const {
    alignas(64) uint32_t words[kKeyBlock + 8];
    const int64_t skip = first % 4;
    isa().random.philox(words, seed, offset + static_cast<uint64_t>(first / 4), (skip + n + 3) / 4);
    for (int64_t c = 0; c < n; ++c) factors[c] = words[skip + c] < threshold ? factor : T(0);
  }
};

/// How many parts work side by side, each with scratch of its own, for tasks of so many multiplications in all.
inline int64_t attention_parts(int64_t tasks, double multiplications) {
  constexpr double kWorthwhile = 200e3;  // another thread
  return std::min({int64_t{shares()}, tasks, static_cast<int64_t>(std::max(1.0, multiplications / kWorthwhile))});
}
/// Calls f(task, part) for every task, as threads come free.
template <class F>
void for_attention_tasks(const Queue& queue, int64_t parts, int64_t tasks, F f) {
  std::atomic<int64_t> next{0};
  parallel_for(parts, 1, queue.threads, [&](int64_t part, int64_t) {
    for (int64_t task = next++; task < tasks; task = next++) f(task, part);
  });
}

/// The bytes of attention_backward's workspace.
size_t attention_backward_workspace(const View& q, const View& k, const View& v);

}  // namespace tandem::kernels::cpu
