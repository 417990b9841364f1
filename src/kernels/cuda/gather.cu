// Gather and scatter along one dimension. Gather: a thread an element. Scatter keeps the order of what meets at one place: a thread goes
// along each line of that dimension where there are many lines or short ones; else a group does, some indices at a time, in which the first
// thread of those that name one place combines what all of them bring. Lines longer than kOrdered are combined in any order,
// unless algorithms have to be deterministic.
#include "base/backends.h"
#include "kernels/cuda/entries.h"
#include "kernels/cuda/indexing.cuh"

namespace tandem::kernels::cuda {
namespace {

constexpr int kGroup = 256;
constexpr int64_t kShort = 32;         // elements of a line that a thread goes along by itself
constexpr int64_t kManyLines = 16384;  // lines that keep a GPU's threads busy one each

/// A view without dimensions as one of a single element.
View at_least_1d(View view) {
  if (view.ndim == 0) {
    view.ndim = 1;
    view.sizes[0] = 1;
    view.strides[0] = 0;
  }
  return view;
}

/// The strides of `view` without that of `dim`, which is handled apart.
struct Across {
  int64_t strides[kMaxDims];

  Across(const View& view, int dim) {
    for (int d = 0; d < view.ndim; ++d) strides[d] = d == dim ? 0 : view.strides[d];
  }
};

template <class T>
struct Gather {
  T* out;
  const T* in;
  const int64_t* index;
  Places<3> places;  // of out, of index, of in but for its place along dim
  int64_t stride, size;
  Reporter report;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[3];
    places(i, at);
    const int64_t k = index[at[1]];
    if (within(report, k, size)) out[at[0]] = in[at[2] + k * stride];
  }
};

/// The arrays of a scatter, and how they lie along its dimension.
template <class To, class T>
struct Scattering {
  Scatter mode;
  To* out;
  const int64_t* index;
  const T* source;
  int64_t length, size;  // of index and of out along dim
  int64_t out_step, index_step, source_step;
  Reporter report;
};

template <class To, class T>
struct ScatterLine {
  Scattering<To, T> call;
  Places<3> lines;  // of out, index and source

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[3];
    lines(i, at);
    for (int64_t j = 0; j < call.length; ++j) {
      const int64_t k = call.index[at[1] + j * call.index_step];
      if (!within(call.report, k, call.size)) continue;
      To& to = call.out[at[0] + k * call.out_step];
      to = combined(call.mode, to, combinable<To>(call.source[at[2] + j * call.source_step]));
    }
  }
};

template <class To, class T>
struct ScatterTiles {
  struct Shared {
    int64_t index[kGroup];  // -1 for none
    Compute<T> source[kGroup];
  };
  Scattering<To, T> call;
  Places<3> lines;

  TD_DEVICE void operator()(Group<kGroup>& group, int64_t i, Shared& shared) const {
    int64_t at[3];
    lines(i, at);
    for (int64_t first = 0; first < call.length; first += kGroup) {
      group.each([&](int t) {
        const int64_t j = first + t;
        shared.index[t] = -1;
        if (j >= call.length) return;
        const int64_t k = call.index[at[1] + j * call.index_step];
        if (!within(call.report, k, call.size)) return;
        shared.index[t] = k;
        shared.source[t] = to_compute(call.source[at[2] + j * call.source_step]);
      });
      group.each([&](int t) {
        const int64_t k = shared.index[t];
        if (k < 0) return;
        for (int before = 0; before < t; ++before)
          if (shared.index[before] == k) return;
        To& to = call.out[at[0] + k * call.out_step];
        To value = to;
        for (int other = t; other < kGroup; ++other)
          if (shared.index[other] == k) value = combined(call.mode, value, to_element<To>(shared.source[other]));
        to = value;
      });
    }
  }
};

template <class To, class T>
struct ScatterAtomic {
  Scattering<To, T> call;
  Places<3> places;  // of out but for its place along dim, of index, of source

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[3];
    places(i, at);
    const int64_t k = call.index[at[1]];
    if (within(call.report, k, call.size))
      atomic_combine(call.mode, call.out + at[0] + k * call.out_step, combinable<To>(call.source[at[2]]));
  }
};

template <class To, class T>
void scatter_of(const Queue& queue, Scatter mode, const View& whole, const View& index, const View& source, int dim) {
  const Scattering<To, T> call{mode,
                               whole.as<To>(),
                               index.as<int64_t>(),
                               source.as<T>(),
                               index.sizes[dim],
                               whole.sizes[dim],
                               whole.strides[dim],
                               index.strides[dim],
                               source.strides[dim],
                               Reporter(queue)};
  const Across out_strides(whole, dim), index_strides(index, dim), source_strides(source, dim);
  if (call.length > kOrdered && !are_deterministic_algorithms_enabled())
    return for_each(queue, index.numel(),
                    ScatterAtomic<To, T>{call, {index.ndim, index.sizes, {out_strides.strides, index.strides, source.strides}}});
  View across = index;
  across.sizes[dim] = 1;
  const Places<3> lines(across.ndim, across.sizes, {out_strides.strides, index_strides.strides, source_strides.strides});
  // Neighbours in a line are neighbours in memory where dim is the last: then a group reads a line together, however many there are.
  const bool by_threads = call.length <= kShort || (dim != index.ndim - 1 && lines.count >= kManyLines);
  if (by_threads) for_each(queue, lines.count, ScatterLine<To, T>{call, lines});
  else for_groups<kGroup>(queue, lines.count, ScatterTiles<To, T>{call, lines});
}

}  // namespace

void gather(const Queue& queue, Out out_view, View in_view, View index_view, int32_t dim) {
  const View out = at_least_1d(out_view), in = at_least_1d(in_view), index = at_least_1d(index_view);
  const Across in_strides(in, dim);
  const Places<3> places(index.ndim, index.sizes, {out.strides, index.strides, in_strides.strides});
  visit_width(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, places.count,
             Gather<T>{out.as<T>(), in.as<T>(), index.as<int64_t>(), places, in.strides[dim], in.sizes[dim], Reporter(queue)});
  });
}

void scatter(const Queue& queue, Scatter mode, Change out, View index, View source, int32_t dim) {
  visit(source.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [&](auto to) {
      scatter_of<decltype(to), T>(queue, mode, at_least_1d(out), at_least_1d(index), at_least_1d(source), dim);
    };
    if (mode == Scatter::Add || mode == Scatter::Multiply) run(Compute<T>{});
    else run(zero);
  });
}

}  // namespace tandem::kernels::cuda
