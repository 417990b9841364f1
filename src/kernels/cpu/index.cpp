// Indexing by tensors: for every position that they name, a block of the dimensions that they leave alone is moved. Reading shares out the
// positions among the threads; writing must keep their order where one is named twice, so it shares out the blocks' elements, and each
// thread goes through all positions.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kPiece = 16384;  // elements

/// `whole` is the tensor that is indexed, `part` the one whose sizes are the index tensors' and then the sliced dimensions'.
struct IndexPlan {
  static constexpr int kMaxIndices = kMaxDims;
  int indices = 0;
  const int64_t* index[kMaxIndices];
  int64_t size[kMaxIndices], stride[kMaxIndices];  // of the dimension of `whole` that it indexes
  int index_ndim = 0;
  int64_t index_sizes[kMaxDims], index_strides[kMaxIndices][kMaxDims], part_strides[kMaxDims];
  int64_t positions = 1;
  Walk<2> block;  // whole, part

  IndexPlan(const View& whole, const View& part, const Span<View>& list) {
    int sliced = whole.ndim;
    for (const View& v : list) sliced -= v.data != nullptr;
    index_ndim = part.ndim - sliced;
    for (int d = 0; d < index_ndim; ++d) {
      index_sizes[d] = part.sizes[d];
      part_strides[d] = part.strides[d];
      positions *= part.sizes[d];
    }
    int next = index_ndim;
    for (int d = 0; d < whole.ndim; ++d) {
      if (d >= list.size || !list[d].data) {
        block.push(whole.sizes[d], {whole.strides[d], part.strides[next]});
        ++next;
        continue;
      }
      const View& v = list[d];
      index[indices] = v.as<const int64_t>();
      size[indices] = whole.sizes[d];
      stride[indices] = whole.strides[d];
      for (int i = 0; i < index_ndim; ++i) {
        const int own = i - (index_ndim - v.ndim);
        index_strides[indices][i] = own < 0 || v.sizes[own] == 1 ? 0 : v.strides[own];
      }
      ++indices;
    }
  }

  /// Calls `f(offset in whole, offset in part)` for positions begin … end - 1 whose indices are all within their sizes, counted from the
  /// end where `negative` ones may be.
  template <class F>
  void each(const Queue& queue, bool negative, int64_t begin, int64_t end, F f) const {
    const auto good_index = [&](int64_t& place, int64_t limit) {
      return negative ? wrap_index(queue, place, limit) : within(queue, place, limit);
    };
    const int last = index_ndim - 1;
    const int64_t length = index_ndim ? index_sizes[last] : 1;
    for (int64_t p = begin; p < end;) {  // a run along the last dimension of the index tensors at a time
      int64_t from = 0;
      const int64_t first = p % length, stop = std::min(length, first + end - p);
      const int64_t* where[kMaxIndices];
      for (int k = 0; k < indices; ++k) where[k] = index[k];
      for_indices(p / length, last, index_sizes, [&](int d, int64_t i) {
        from += i * part_strides[d];
        for (int k = 0; k < indices; ++k) where[k] += i * index_strides[k][d];
      });
      const int64_t part_step = index_ndim ? part_strides[last] : 0;
      if (indices == 1) {
        const int64_t* const list = where[0];
        const int64_t step = index_ndim ? index_strides[0][last] : 0, limit = size[0], by = stride[0];
        for (int64_t i = first; i < stop; ++i) {
          int64_t place = list[i * step];
          if (good_index(place, limit)) f(place * by, from + i * part_step);
        }
        p += stop - first;
        continue;
      }
      for (int64_t i = first; i < stop; ++i) {
        int64_t to = 0;
        bool good = true;
        for (int k = 0; k < indices && good; ++k) {
          int64_t place = where[k][index_ndim ? i * index_strides[k][last] : 0];
          good = good_index(place, size[k]);
          to += place * stride[k];
        }
        if (good) f(to, from + i * part_step);
      }
      p += stop - first;
    }
  }

  [[nodiscard]] bool dense_block() const {
    return block.ndim == 0 || (block.ndim == 1 && block.strides[0][0] == 1 && block.strides[1][0] == 1);
  }
};

}  // namespace

void index(const Queue& queue, Out out, View in, Span<View> indices, bool negative) {
  const IndexPlan plan(in, out, indices);
  const int64_t width = plan.block.numel;
  if (plan.positions == 0 || width == 0) return;
  const int64_t grain = std::max<int64_t>(1, kPiece / 4 / width);
  visit_width(in.dtype, [&]<class T>(T) {
    const bool dense_block = plan.dense_block();
    parallel_for(plan.positions, grain, queue.threads, [&](int64_t begin, int64_t end) {
      if (width == 1)
        return plan.each(queue, negative, begin, end,
                         [to = out.as<T>(), from = in.as<const T>()](int64_t source, int64_t target) { to[target] = from[source]; });
      plan.each(queue, negative, begin, end, [&](int64_t from, int64_t to) {
        const T* source = in.as<T>() + from;
        T* target = out.as<T>() + to;
        if (dense_block) std::memcpy(target, source, static_cast<size_t>(width) * sizeof(T));
        else plan.block.each(0, width, [&](int64_t, const int64_t* at) { target[at[1]] = source[at[0]]; });
      });
    });
  });
}

void index_put(const Queue& queue, Change out, View values, Span<View> indices, bool accumulate, bool negative) {
  const IndexPlan plan(out, values, indices);
  const int64_t width = plan.block.numel;
  if (plan.positions == 0 || width == 0) return;
  const auto run = [&]<class To, class T>(To, T, auto put) {
    // A thread's elements of the block: enough of them that going through all positions again is worth it.
    const int64_t share = std::max<int64_t>(64, (width + queue.threads - 1) / queue.threads);
    const int64_t grain = plan.positions * width < kPiece ? width : share;
    parallel_for(width, grain, queue.threads, [&](int64_t begin, int64_t end) {
      plan.each(queue, negative, 0, plan.positions, [&](int64_t to, int64_t from) {
        To* target = out.as<To>() + to;
        const T* source = values.as<T>() + from;
        if (plan.dense_block()) {
          for (int64_t i = begin; i < end; ++i) put(target[i], source[i]);
        } else {
          plan.block.each(begin, end, [&](int64_t, const int64_t* at) { put(target[at[0]], source[at[1]]); });
        }
      });
    });
  };
  if (accumulate) visit(values.dtype, [&]<class T>(T zero) { run(Sum<T>{}, zero, [](Sum<T>& to, T from) { add_to(to, from); }); });
  else visit_width(out.dtype, [&]<class T>(T zero) { run(zero, zero, [](T& to, T from) { to = from; }); });
}

}  // namespace tandem::kernels::cpu
