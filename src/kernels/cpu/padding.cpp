// Padding by a value, or by the elements themselves: mirrored, repeated, or from the other end. A row of the result is a row of `in` with
// something at both ends, and every other dimension only says which row. Gradients are added up a row after another; rows of the dimensions
// that are not padded are shared out, so no two threads write to one element.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"
#include "kernels/padding_source.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPiece = 16384;  // elements

/// One dimension: how many elements stand before those of `in`, where these begin, and how many there are.
struct Padded {
  int64_t before, size, padded;
  Padding mode;
  int64_t middle, from, count;

  Padded(int64_t before, int64_t size, int64_t padded, Padding mode) : before(before), size(size), padded(padded), mode(mode) {
    middle = std::clamp<int64_t>(before, 0, padded);
    from = std::max<int64_t>(0, -before);
    count = std::max<int64_t>(0, std::min(size - from, padded - middle));
  }
  [[nodiscard]] int64_t at(int64_t i) const { return padding_source(i, before, size, padded, mode); }
};

/// The rows of the padded tensor: where each begins there, and in the other one.
struct PaddedRows {
  int outer;
  const View &wide, &narrow;
  Span<int64_t> before;
  Padding mode;
  int64_t count = 1;

  PaddedRows(const View& wide, const View& narrow, Span<int64_t> before, Padding mode)
      : outer(wide.ndim - 1), wide(wide), narrow(narrow), before(before), mode(mode) {
    for (int d = 0; d < outer; ++d) count *= wide.sizes[d];
  }
  /// Calls `f(offset in wide, offset in narrow or -1)` for rows begin … end - 1.
  template <class F>
  void each(int64_t begin, int64_t end, F f) const {
    const int inner = outer - 1;
    const int64_t height = inner < 0 ? 1 : wide.sizes[inner];
    for (int64_t row = begin; row < end;) {
      int64_t in_wide = 0, in_narrow = 0;
      bool inside = true;
      for_indices(row / height, inner, wide.sizes, [&](int d, int64_t i) {
        const int64_t from = padding_source(i, before[d], narrow.sizes[d], wide.sizes[d], mode);
        in_wide += i * wide.strides[d];
        inside &= from >= 0;
        in_narrow += from * narrow.strides[d];
      });
      if (inner < 0) return f(in_wide, in_narrow);
      for (int64_t i = row % height; i < height && row < end; ++i, ++row) {
        const int64_t from = padding_source(i, before[inner], narrow.sizes[inner], height, mode);
        f(in_wide + i * wide.strides[inner], inside && from >= 0 ? in_narrow + from * narrow.strides[inner] : -1);
      }
    }
  }
  [[nodiscard]] Padded last() const { return {before[outer], narrow.sizes[outer], wide.sizes[outer], mode}; }
};

}  // namespace

void pad(const Queue& queue, Out out, View in, Span<int64_t> before, Padding mode, Value value) {
  const PaddedRows rows(out, in, before, mode);
  const Padded row = rows.last();
  if (rows.count == 0 || row.padded == 0) return;
  const int64_t to_step = out.strides[rows.outer], step = in.strides[rows.outer];
  // The value as an element of the dtype.
  alignas(8) char element[8] = {};
  visit(out.dtype, [&]<class T>(T) {
    T filling;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) filling = T(value.to<float>());
    else filling = value.to<T>();
    std::memcpy(element, &filling, sizeof filling);
  });
  visit_width(out.dtype, [&]<class T>(T) {
    T filling;
    std::memcpy(&filling, element, sizeof filling);
    parallel_for(rows.count, std::max<int64_t>(1, kPiece / row.padded), queue.threads, [&](int64_t begin, int64_t end) {
      rows.each(begin, end, [&](int64_t to_offset, int64_t from_offset) {
        T* const to = out.as<T>() + to_offset;
        const T* const from = in.as<const T>() + from_offset;
        if (from_offset < 0) {
          for (int64_t i = 0; i < row.padded; ++i) to[i * to_step] = filling;
          return;
        }
        const auto edge = [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            const int64_t at = row.at(i);
            to[i * to_step] = at < 0 ? filling : from[at * step];
          }
        };
        edge(0, row.middle);
        if (to_step == 1 && step == 1) {
          std::memcpy(to + row.middle, from + row.from, static_cast<size_t>(row.count) * sizeof(T));
        } else {
          for (int64_t i = 0; i < row.count; ++i) to[(row.middle + i) * to_step] = from[(row.from + i) * step];
        }
        edge(row.middle + row.count, row.padded);
      });
    });
  });
}

void pad_backward(const Queue& queue, Out out, View grad, Span<int64_t> before, Padding mode) {
  const PaddedRows rows(grad, out, before, mode);
  const Padded row = rows.last();
  fill(queue, out, Value{});
  if (rows.count == 0 || row.padded == 0) return;
  // Leading dimensions that are as they were: what belongs to one of their positions stays with one thread.
  int64_t apart = 1;
  for (int d = 0; d < rows.outer && before[d] == 0 && grad.sizes[d] == out.sizes[d]; ++d) apart *= grad.sizes[d];
  const int64_t together = rows.count / apart, step = grad.strides[rows.outer];
  visit(grad.dtype, [&]<class T>(T) {
    parallel_for(apart, std::max<int64_t>(1, kPiece / (together * row.padded)), queue.threads, [&](int64_t begin, int64_t end) {
      rows.each(begin * together, end * together, [&](int64_t from_offset, int64_t to_offset) {
        Sum<T>* const to = out.as<Sum<T>>() + to_offset;
        const T* const from = grad.as<const T>() + from_offset;
        for (int64_t i = 0; i < row.middle; ++i) add_to(to[row.at(i)], from[i * step]);
        for (int64_t i = 0; i < row.count; ++i) add_to(to[row.from + i], from[(row.middle + i) * step]);
        for (int64_t i = row.middle + row.count; i < row.padded; ++i) add_to(to[row.at(i)], from[i * step]);
      });
    });
  });
}

}  // namespace tandem::kernels::cpu
