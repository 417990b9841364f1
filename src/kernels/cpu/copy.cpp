// Copies between any two layouts and dtypes. Dimensions are sorted by the output's strides and joined, so most copies become one or a few
// memcpys; transposed ones go block by block, so that every cache line is read and written once; other dtypes are converted run by run.
#include <bit>
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/streaming.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrainBytes = 128 << 10;
constexpr int64_t kBuffer = 1024;  // elements converted at a time

/// Both sides over common sizes, the output's largest stride first, joined where both allow it.
struct Layout {
  int ndim = 0;
  int64_t sizes[kMaxDims], out[kMaxDims], in[kMaxDims];
};

int64_t magnitude(int64_t x) { return x < 0 ? -x : x; }

Layout layout_of(const Out& out, const View& in) {
  Layout all;
  for (int d = 0; d < out.ndim; ++d) {
    if (out.sizes[d] == 1) continue;
    int at = all.ndim++;
    for (; at > 0 && magnitude(all.out[at - 1]) < magnitude(out.strides[d]); --at) {
      all.sizes[at] = all.sizes[at - 1];
      all.out[at] = all.out[at - 1];
      all.in[at] = all.in[at - 1];
    }
    all.sizes[at] = out.sizes[d];
    all.out[at] = out.strides[d];
    all.in[at] = in.strides[d];
  }
  Layout joined;
  for (int d = 0; d < all.ndim; ++d) {
    const int at = joined.ndim - 1;
    if (at >= 0 && joined.out[at] == all.out[d] * all.sizes[d] && joined.in[at] == all.in[d] * all.sizes[d]) {
      joined.sizes[at] *= all.sizes[d];
      joined.out[at] = all.out[d];
      joined.in[at] = all.in[d];
    } else {
      joined.sizes[joined.ndim] = all.sizes[d];
      joined.out[joined.ndim] = all.out[d];
      joined.in[joined.ndim++] = all.in[d];
    }
  }
  if (joined.ndim == 0) {
    joined.ndim = 1;
    joined.sizes[0] = joined.out[0] = joined.in[0] = 1;
  }
  return joined;
}

void copy_bytes(const Queue& queue, char* to, const char* from, int64_t bytes) {
  const bool past_caches = streams(static_cast<size_t>(bytes));
  parallel_for(bytes, kGrainBytes, queue.threads, [&](int64_t begin, int64_t end) {
    if (past_caches) stream_copy(to + begin, from + begin, static_cast<size_t>(end - begin));
    else std::memmove(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

template <class E>
void copy_runs(const Queue& queue, const Layout& layout, int64_t numel, E* out, const E* in) {
  const int64_t out_stride = layout.out[layout.ndim - 1], in_stride = layout.in[layout.ndim - 1];
  const bool rows = out_stride == 1 && in_stride == 1, reversed = out_stride == 1 && in_stride == -1;
  const Reverse reverse = isa().reverse[std::countr_zero(sizeof(E))];
  parallel_for(numel, kGrainBytes / static_cast<int64_t>(sizeof(E)), queue.threads, [&](int64_t begin, int64_t end) {
    for_runs<2>(layout.ndim, layout.sizes, {layout.out, layout.in}, begin, end, [&](const int64_t* offsets, int64_t, int64_t n) {
      E* to = out + offsets[0];
      const E* from = in + offsets[1];
      if (rows && n >= 16) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(E));
      else if (rows)
        for (int64_t i = 0; i < n; ++i) to[i] = from[i];
      else if (reversed && n >= 16) reverse(to, from - (n - 1), n);
      else
        for (int64_t i = 0; i < n; ++i) to[i * out_stride] = from[i * in_stride];
    });
  });
}

/// The output is dense along its last dimension, the input along dimension k: a cache line's width of rows at a time, in registers where
/// there are instructions for it, else squares through a buffer.
template <class E>
void copy_transposed(const Queue& queue, const Layout& layout, int64_t numel, int k, E* out, const E* in) {
  constexpr int64_t block = 64 / sizeof(E);
  const int last = layout.ndim - 1;
  const int64_t rows = layout.sizes[k], columns = layout.sizes[last], out_row = layout.out[k], in_column = layout.in[last];
  const int64_t row_blocks = (rows + block - 1) / block, matrices = numel / (rows * columns);
  const int64_t work = block * columns, grain = std::max<int64_t>(1, kGrainBytes / (work * static_cast<int64_t>(sizeof(E))));
  parallel_for(matrices * row_blocks, grain, queue.threads, [&](int64_t begin, int64_t end) {
    alignas(64) E square[block][block];
    for (int64_t at = begin; at < end; ++at) {
      int64_t rest = at / row_blocks, out_base = 0, in_base = 0;
      for (int d = last - 1; d >= 0; --d) {
        if (d == k) continue;
        const int64_t index = rest % layout.sizes[d];
        rest /= layout.sizes[d];
        out_base += index * layout.out[d];
        in_base += index * layout.in[d];
      }
      const int64_t row = at % row_blocks * block, height = std::min(block, rows - row);
      if constexpr (sizeof(E) >= 4) {
        isa().transpose[sizeof(E) == 8](out + out_base + row * out_row, out_row, in + in_base + row, in_column, height, columns);
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
void copy_elements(const Queue& queue, const Layout& layout, int64_t numel, void* out, const void* in) {
  const int last = layout.ndim - 1;
  if (layout.ndim == 1 && layout.out[0] == 1 && layout.in[0] == 1)
    return copy_bytes(queue, static_cast<char*>(out), static_cast<const char*>(in), numel * static_cast<int64_t>(sizeof(E)));
  if (layout.out[last] == 1 && layout.in[last] != 1 && layout.sizes[last] >= 8)
    for (int k = 0; k < last; ++k)
      if (layout.in[k] == 1 && layout.sizes[k] >= 8)
        return copy_transposed(queue, layout, numel, k, static_cast<E*>(out), static_cast<const E*>(in));
  copy_runs(queue, layout, numel, static_cast<E*>(out), static_cast<const E*>(in));
}

void convert_runs(const Queue& queue, const Layout& layout, int64_t numel, const Out& out, const View& in) {
  const Compute compute = compute_of(in.dtype);
  const Pack pack = isa().pack[static_cast<int>(in.dtype)][compute];
  const Unpack unpack = isa().unpack[compute][static_cast<int>(out.dtype)];
  const int64_t out_size = static_cast<int64_t>(size_of(out.dtype)), in_size = static_cast<int64_t>(size_of(in.dtype));
  const int64_t out_stride = layout.out[layout.ndim - 1], in_stride = layout.in[layout.ndim - 1];
  const bool straight = in_stride == 1 && in.dtype == dtype_for(compute);
  parallel_for(numel, kGrainBytes / 4, queue.threads, [&](int64_t begin, int64_t end) {
    alignas(64) char buffer[kBuffer * 8];
    for_runs<2>(layout.ndim, layout.sizes, {layout.out, layout.in}, begin, end, [&](const int64_t* offsets, int64_t, int64_t n) {
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
  const int64_t numel = out.numel();
  if (numel == 0) return;
  const Layout layout = layout_of(out, in);
  if (out.dtype != in.dtype) return convert_runs(queue, layout, numel, out, in);
  switch (size_of(out.dtype)) {
    case 1: return copy_elements<uint8_t>(queue, layout, numel, out.data, in.data);
    case 2: return copy_elements<uint16_t>(queue, layout, numel, out.data, in.data);
    case 4: return copy_elements<uint32_t>(queue, layout, numel, out.data, in.data);
    default: return copy_elements<uint64_t>(queue, layout, numel, out.data, in.data);
  }
}

}  // namespace tandem::kernels::cpu
