// Looking up rows of a table, and adding gradients to them. The gradient shares out the columns among the threads and goes through the
// indices in order: no two threads write to one element, and the sums don't depend on how many there are.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"

namespace tandem::kernels::cpu {
namespace {

/// The positions of the index tensor together with those of the rows that belong to them (all dimensions of `rows` but the last).
Walk<2> positions_of(const View& indices, const View& rows) {
  Walk<2> walk;
  for (int d = 0; d < indices.ndim; ++d) walk.push(indices.sizes[d], {indices.strides[d], rows.strides[d]});
  return walk;
}

}  // namespace

void embedding(const Queue& queue, Out out, View table, View indices) {
  const Walk<2> positions = positions_of(indices, out);
  const int64_t width = table.sizes[1], rows = table.sizes[0], row_stride = table.strides[0], stride = table.strides[1],
                to_stride = out.strides[out.ndim - 1];
  if (width == 0) return;
  visit_width(out.dtype, [&]<class T>(T) {
    parallel_for(positions.numel, std::max<int64_t>(1, 16384 / width), queue.threads, [&](int64_t begin, int64_t end) {
      positions.each(begin, end, [&](int64_t, const int64_t* at) {
        const int64_t index = indices.as<int64_t>()[at[0]];
        if (!within(queue, index, rows)) return;
        T* to = out.as<T>() + at[1];
        const T* from = table.as<T>() + index * row_stride;
        if (stride == 1 && to_stride == 1) std::memcpy(to, from, static_cast<size_t>(width) * sizeof(T));
        else
          for (int64_t i = 0; i < width; ++i) to[i * to_stride] = from[i * stride];
      });
    });
  });
}

void embedding_backward(const Queue& queue, Out out, View grad, View indices, int64_t padding) {
  const int64_t rows = out.sizes[0], width = out.sizes[1];
  if (rows == 0 || width == 0) return;
  fill(queue, out, Value{});
  const Walk<2> positions = positions_of(indices, grad);
  const int64_t row_stride = out.strides[0], stride = out.strides[1], from_stride = grad.strides[grad.ndim - 1];
  // A thread's columns: at least a cache line of them, so that no two threads write one.
  const int64_t share = std::max<int64_t>(32, ((width + queue.threads - 1) / queue.threads + 15) / 16 * 16);
  const int64_t grain = positions.numel * width < 16384 ? width : share;
  visit(grad.dtype, [&]<class T>(T) {
    parallel_for(width, grain, queue.threads, [&](int64_t begin, int64_t end) {
      positions.each(0, positions.numel, [&](int64_t, const int64_t* at) {
        const int64_t index = indices.as<int64_t>()[at[0]];
        if (!within(queue, index, rows) || index == padding) return;
        Sum<T>* to = out.as<Sum<T>>() + index * row_stride;
        const T* from = grad.as<T>() + at[1];
        if (stride == 1 && from_stride == 1)
          for (int64_t i = begin; i < end; ++i) add_to(to[i], from[i]);
        else
          for (int64_t i = begin; i < end; ++i) add_to(to[i * stride], from[i * from_stride]);
      });
    });
  });
}

}  // namespace tandem::kernels::cpu
