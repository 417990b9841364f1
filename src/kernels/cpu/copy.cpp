// Copies between any two layouts and dtypes. Dimensions are sorted by the output's strides and joined, so most copies become one or a few
// memcpys; transposed ones go block by block, so that every cache line is read and written once; other dtypes are converted run by run.
#include <bit>
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/streaming.h"
#include "kernels/visit.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrainBytes = 128 << 10;
constexpr int64_t kBuffer = 1024;  // elements converted at a time

/// The sides of a copy, by their number among the strides.
enum Side { kOut, kIn };

/// Both over common sizes, the output's largest stride first, joined where both allow it.
using Layout = StridedDims<2>;
Layout layout_of(const Out& out, const View& in) {
  int order[kMaxDims];
  order_by_stride(0, out.ndim, out.strides, order);
  Layout layout;
  for (int i = 0; i < out.ndim; ++i) layout.push(out.sizes[order[i]], {out.strides[order[i]], in.strides[order[i]]});
  layout.require_one();
  return layout;
}

void copy_bytes(const Queue& queue, char* to, const char* from, int64_t bytes) {
  const bool past_caches = streams(static_cast<size_t>(bytes));
  parallel_for(bytes, kGrainBytes, queue.threads, [&](int64_t begin, int64_t end) {
    if (past_caches) stream_copy(to + begin, from + begin, static_cast<size_t>(end - begin));
    else std::memmove(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

/// Four elements a turn: loads that do not wait for the stores between them.
template <class E>
void copy_strided(E* to, int64_t to_stride, const E* from, int64_t from_stride, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, to += 4 * to_stride, from += 4 * from_stride) {
    const E a = from[0], b = from[from_stride], c = from[2 * from_stride], d = from[3 * from_stride];
    to[0] = a;
    to[to_stride] = b;
    to[2 * to_stride] = c;
    to[3 * to_stride] = d;
  }
  for (; i < n; ++i, to += to_stride, from += from_stride) *to = *from;
}

template <class E>
void copy_runs(const Queue& queue, const Layout& layout, E* out, const E* in) {
  const int64_t out_stride = layout.strides[kOut][layout.ndim - 1], in_stride = layout.strides[kIn][layout.ndim - 1];
  const bool rows = out_stride == 1 && in_stride == 1, reversed = out_stride == 1 && in_stride == -1;
  const Reverse reverse = isa().conversions.reverse[std::countr_zero(sizeof(E))];
  parallel_for(layout.numel, kGrainBytes / static_cast<int64_t>(sizeof(E)), queue.threads, [&](int64_t begin, int64_t end) {
    for_runs<2>(layout.ndim, layout.sizes, {layout.strides[kOut], layout.strides[kIn]}, begin, end,
                [&](const int64_t* offsets, int64_t, int64_t n) {
                  E* to = out + offsets[0];
                  const E* from = in + offsets[1];
                  if (rows && n >= 16) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(E));
                  else if (rows)
                    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
                  else if (reversed && n >= 16) reverse(to, from - (n - 1), n);
                  else if (n >= 32) copy_strided(to, out_stride, from, in_stride, n);
                  else
                    for (int64_t i = 0; i < n; ++i) to[i * out_stride] = from[i * in_stride];
                });
  });
}

/// The output is dense along its last dimension, the input along dimension k: a cache line's width of rows at a time, in registers where
/// there are instructions for it, else squares through a buffer.
template <class E>
void copy_transposed(const Queue& queue, const Layout& layout, int k, E* out, const E* in) {
  constexpr int64_t block = 64 / sizeof(E);
  const int last = layout.ndim - 1;
  const int64_t rows = layout.sizes[k], columns = layout.sizes[last], out_row = layout.strides[kOut][k],
                in_column = layout.strides[kIn][last];
  const int64_t row_blocks = (rows + block - 1) / block;
  Layout matrices;
  for (int d = 0; d < last; ++d)
    if (d != k) matrices.push(layout.sizes[d], {layout.strides[kOut][d], layout.strides[kIn][d]});
  const int64_t work = block * columns, grain = std::max<int64_t>(1, kGrainBytes / (work * static_cast<int64_t>(sizeof(E))));
  parallel_for(matrices.numel * row_blocks, grain, queue.threads, [&](int64_t begin, int64_t end) {
    alignas(64) E square[block][block];
    for (int64_t at = begin; at < end; ++at) {
      const auto [out_base, in_base] = matrices.locate(at / row_blocks);
      const int64_t row = at % row_blocks * block, height = std::min(block, rows - row);
      if constexpr (sizeof(E) >= 4) {
        isa().conversions.transpose[sizeof(E) == 8](out + out_base + row * out_row, out_row, in + in_base + row, in_column, height,
                                                    columns);
        continue;
      }
      for (int64_t column = 0; column < columns; column += block) {
        const int64_t width = std::min(block, columns - column);
        const E* from = in + in_base + row + column * in_column;
        E* to = out + out_base + row * out_row + column;
        if (height == block && width == block) {
          for (int64_t j = 0; j < block; ++j) std::memcpy(square[j], from + j * in_column, sizeof square[j]);
          for (int64_t i = 0; i < block; ++i)
            for (int64_t j = 0; j < block; ++j) to[i * out_row + j] = square[j][i];
        } else {
          for (int64_t j = 0; j < width; ++j)
            for (int64_t i = 0; i < height; ++i) square[j][i] = from[j * in_column + i];
          for (int64_t i = 0; i < height; ++i)
            for (int64_t j = 0; j < width; ++j) to[i * out_row + j] = square[j][i];
        }
      }
    }
  });
}

template <class E>
void copy_elements(const Queue& queue, const Layout& layout, void* out, const void* in) {
  const int last = layout.ndim - 1;
  if (layout.ndim == 1 && layout.strides[kOut][0] == 1 && layout.strides[kIn][0] == 1)
    return copy_bytes(queue, static_cast<char*>(out), static_cast<const char*>(in), layout.numel * static_cast<int64_t>(sizeof(E)));
  if (layout.strides[kOut][last] == 1 && layout.strides[kIn][last] != 1 && layout.sizes[last] >= 8)
    for (int k = 0; k < last; ++k)
      if (layout.strides[kIn][k] == 1 && layout.sizes[k] >= 8)
        return copy_transposed(queue, layout, k, static_cast<E*>(out), static_cast<const E*>(in));
  copy_runs(queue, layout, static_cast<E*>(out), static_cast<const E*>(in));
}

void convert_runs(const Queue& queue, const Layout& layout, const Out& out, const View& in) {
  const Compute compute = compute_of(in.dtype);
  const Pack pack = isa().conversions.pack_to(compute, in.dtype);
  const Unpack unpack = isa().conversions.unpack_from(compute, out.dtype);
  const int64_t out_size = static_cast<int64_t>(size_of(out.dtype)), in_size = static_cast<int64_t>(size_of(in.dtype));
  const int64_t out_stride = layout.strides[kOut][layout.ndim - 1], in_stride = layout.strides[kIn][layout.ndim - 1];
  const bool straight = in_stride == 1 && in.dtype == dtype_for(compute);
  parallel_for(layout.numel, kGrainBytes / 4, queue.threads, [&](int64_t begin, int64_t end) {
    alignas(64) char buffer[kBuffer * 8];
    for_runs<2>(layout.ndim, layout.sizes, {layout.strides[kOut], layout.strides[kIn]}, begin, end,
                [&](const int64_t* offsets, int64_t, int64_t n) {
                  char* to = out.as<char>() + offsets[0] * out_size;
                  const char* from = in.as<const char>() + offsets[1] * in_size;
                  if (straight) return unpack(to, out_stride, from, n);
                  for (int64_t i = 0; i < n; i += kBuffer) {
                    const int64_t count = std::min(kBuffer, n - i);
                    pack(buffer, from + i * in_stride * in_size, in_stride, count);
                    unpack(to + i * out_stride * out_size, out_stride, buffer, count);
                  }
                });
  });
}

}  // namespace

void copy(const Queue& queue, Out out, View in) {
  const Layout layout = layout_of(out, in);
  if (layout.numel == 0) return;
  if (out.dtype != in.dtype) return convert_runs(queue, layout, out, in);
  visit_width(out.dtype, [&]<class E>(E) { copy_elements<E>(queue, layout, out.data, in.data); });
}

}  // namespace tandem::kernels::cpu
