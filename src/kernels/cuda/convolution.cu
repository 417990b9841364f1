// Convolutions of any dtype, groups and dilation, as products of the weight with what the windows see, which is looked up where it lies:
// see products.cuh. A group of channels is an element of the batch. The gradient of the weight has few elements and long sums: these are
// cut into runs, whose sums are kept apart and added up in order.
#include <algorithm>

#include "kernels/cuda/entries.h"
#include "kernels/cuda/products.cuh"

namespace tandem::kernels::cuda {
namespace {

constexpr int kTile = 64;
constexpr int64_t kFewRows = 8;         // up to which a tile would be mostly empty
constexpr int64_t kShallow = 16;        // terms of a sum up to which tiles don't pay
constexpr int64_t kEnoughGroups = 256;  // of threads, for a GPU
constexpr int64_t kShortestRun = 512;

/// The sizes of a convolution.
struct Sizes {
  Windows windows;
  int64_t groups, n, inputs, outputs;  // channels of a group
  int64_t in[3], out[3], in_places = 1, out_places = 1, kernel = 1;
  Divide by_stride[3];

  Sizes(const View& out_view, const View& in_view, const View& weight, const Windows& windows, int64_t groups)
      : windows(windows), groups(groups), n(in_view.sizes[0]), inputs(weight.sizes[1]), outputs(weight.sizes[0] / groups) {
    for (int d = 0; d < 3; ++d) {
      in[d] = in_view.sizes[2 + d];
      out[d] = out_view.sizes[2 + d];
      in_places *= in[d];
      out_places *= out[d];
      kernel *= windows.kernel[d];
      by_stride[d] = Divide(windows.stride[d]);
    }
  }
  int64_t seen() const { return inputs * kernel; }

  /// The terms of a sum by their numbers: (channel, kd, kh, kw).
  Indices<4> terms(int64_t channels) const {
    const int64_t sizes[4] = {channels, windows.kernel[0], windows.kernel[1], windows.kernel[2]};
    return Indices<4>(sizes);
  }
  /// The places of all images: (image, d, h, w).
  Indices<4> places(const int64_t (&volume)[3]) const {
    const int64_t sizes[4] = {n, volume[0], volume[1], volume[2]};
    return Indices<4>(sizes);
  }

  /// Where the window of `place` (image, d, h, w of the result) has its element `term` (channel, kd, kh, kw) in the input; -1 in the
  /// padding.
  TD_DEVICE int64_t input_of(int64_t group, const int64_t (&place)[4], const int64_t (&term)[4]) const {
    int64_t at = (place[0] * groups + group) * inputs + term[0];
    for (int d = 0; d < 3; ++d) {
      const int64_t i = place[1 + d] * windows.stride[d] - windows.padding[d] + term[1 + d] * windows.dilation[d];
      if (i < 0 || i >= in[d]) return -1;
      at = at * in[d] + i;
    }
    return at;
  }
  /// Where the result of the window lies whose element `term` (channel of the result, kd, kh, kw) is at `place` of the input; -1 if none.
  TD_DEVICE int64_t output_of(int64_t group, const int64_t (&place)[4], const int64_t (&term)[4]) const {
    int64_t at = (place[0] * groups + group) * outputs + term[0];
    for (int d = 0; d < 3; ++d) {
      const int64_t start = place[1 + d] + windows.padding[d] - term[1 + d] * windows.dilation[d];
      if (start < 0) return -1;
      const int64_t o = by_stride[d](start);
      if (o * windows.stride[d] != start || o >= out[d]) return -1;
      at = at * out[d] + o;
    }
    return at;
  }
};

/// Rows: the channels of the result; columns: its places; terms: what a window sees.
template <class T>
struct Forward {
  using C = Compute<T>;
  using At = int64_t;  // the group of channels

  Sizes sizes;
  Numbers<T> out, in, weight, bias;
  bool has_bias;
  int64_t batches, rows, columns, depth;
  static constexpr bool left_along_depth = true, right_along_depth = false;
  Indices<4> terms, places;
  Divide by_places;

  Forward(const Sizes& s, const View& out, const View& in, const View& weight, const View& bias)
      : sizes(s),
        out(out),
        in(in),
        weight(weight),
        bias(bias),
        has_bias(bias.data != nullptr),
        batches(s.groups),
        rows(s.outputs),
        columns(s.n * s.out_places),
        depth(s.seen()),
        terms(s.terms(s.inputs)),
        places(s.places(s.out)),
        by_places(s.out_places) {}

  TD_DEVICE At at(int64_t group) const { return group; }
  TD_DEVICE C left(At group, int64_t i, int64_t k) const { return weight[(group * rows + i) * depth + k]; }
  TD_DEVICE C right(At group, int64_t k, int64_t j) const {
    int64_t term[4], place[4];
    terms(k, term);
    places(j, place);
    const int64_t from = sizes.input_of(group, place, term);
    return from < 0 ? C(0) : in[from];
  }
  TD_DEVICE void put(At group, int64_t i, int64_t j, C sum) const {
    const int64_t image = by_places(j), channel = group * rows + i;
    if (has_bias) sum = added(sum, bias[channel]);
    out.set((image * sizes.groups * rows + channel) * sizes.out_places + j - image * sizes.out_places, sum);
  }
};

/// Rows: the channels of the input; columns: its places; terms: the channels of the result and the elements of a window.
template <class T>
struct Input {
  using C = Compute<T>;
  using At = int64_t;

  Sizes sizes;
  Numbers<T> in, out, weight;
  int64_t batches, rows, columns, depth;
  bool left_along_depth;
  static constexpr bool right_along_depth = false;
  Indices<4> terms, places;
  Divide by_places, by_kernel;

  Input(const Sizes& s, const View& in, const View& out, const View& weight)
      : sizes(s),
        in(in),
        out(out),
        weight(weight),
        batches(s.groups),
        rows(s.inputs),
        columns(s.n * s.in_places),
        depth(s.outputs * s.kernel),
        left_along_depth(s.kernel > 1),
        terms(s.terms(s.outputs)),
        places(s.places(s.in)),
        by_places(s.in_places),
        by_kernel(s.kernel) {}

  TD_DEVICE At at(int64_t group) const { return group; }
  TD_DEVICE C left(At group, int64_t i, int64_t k) const {
    const int64_t channel = by_kernel(k);
    return weight[((group * sizes.outputs + channel) * rows + i) * sizes.kernel + k - channel * sizes.kernel];
  }
  TD_DEVICE C right(At group, int64_t k, int64_t j) const {
    int64_t term[4], place[4];
    terms(k, term);
    places(j, place);
    const int64_t from = sizes.output_of(group, place, term);
    return from < 0 ? C(0) : out[from];
  }
  TD_DEVICE void put(At group, int64_t i, int64_t j, C sum) const {
    const int64_t image = by_places(j), channel = group * rows + i;
    in.set((image * sizes.groups * rows + channel) * sizes.in_places + j - image * sizes.in_places, sum);
  }
};

/// How many runs the sums of the weight's gradient are cut into, and how long each is.
struct Runs {
  int64_t count = 1, length;

  explicit Runs(const Sizes& s) {
    const int64_t terms = s.n * s.out_places;
    const auto tiles = [](int64_t size) { return (size + kTile - 1) / kTile; };
    const int64_t tasks = s.groups * (s.outputs <= kFewRows ? s.outputs * s.seen() : tiles(s.outputs) * tiles(s.seen()));
    count = std::clamp<int64_t>(std::min(kEnoughGroups / tasks, terms / kShortestRun), 1, kEnoughGroups);
    length = (terms + count - 1) / count;
  }
};

/// Rows: the channels of the result; columns: what a window sees; terms: the places of the result, those of one run.
template <class T>
struct Weight {
  using C = Compute<T>;
  struct At {
    int64_t run, group;
  };

  Sizes sizes;
  Numbers<T> weight, out, in;
  C* sums;  // (runs, groups, rows, columns), or nothing where there is one run
  int64_t batches, rows, columns, depth;
  static constexpr bool left_along_depth = true, right_along_depth = true;
  Indices<4> terms, places;
  Divide by_places, by_groups;

  Weight(const Sizes& s, const Runs& runs, const View& weight, const View& out, const View& in, void* workspace)
      : sizes(s),
        weight(weight),
        out(out),
        in(in),
        sums(runs.count > 1 ? static_cast<C*>(workspace) : nullptr),
        batches(runs.count * s.groups),
        rows(s.outputs),
        columns(s.seen()),
        depth(runs.length),
        terms(s.terms(s.inputs)),
        places(s.places(s.out)),
        by_places(s.out_places),
        by_groups(s.groups) {}

  TD_DEVICE At at(int64_t batch) const {
    const int64_t run = by_groups(batch);
    return {run, batch - run * sizes.groups};
  }
  TD_DEVICE C left(const At& at, int64_t i, int64_t k) const {
    const int64_t term = at.run * depth + k, image = by_places(term);
    if (image >= sizes.n) return 0;  // the last run may be shorter
    return out[((image * sizes.groups + at.group) * rows + i) * sizes.out_places + term - image * sizes.out_places];
  }
  TD_DEVICE C right(const At& at, int64_t k, int64_t j) const {
    int64_t term[4], place[4];
    places(at.run * depth + k, place);
    if (place[0] >= sizes.n) return 0;
    terms(j, term);
    const int64_t from = sizes.input_of(at.group, place, term);
    return from < 0 ? C(0) : in[from];
  }
  TD_DEVICE void put(const At& at, int64_t i, int64_t j, C sum) const {
    const int64_t element = (at.group * rows + i) * columns + j;
    if (sums) sums[at.run * sizes.groups * rows * columns + element] = sum;
    else weight.set(element, sum);
  }
};

/// Adds up the runs.
template <class T>
struct SumOfRuns {
  Numbers<T> weight;
  const Compute<T>* sums;
  int64_t runs, elements;

  TD_DEVICE void operator()(int64_t i) const {
    Compute<T> sum = 0;
    for (int64_t run = 0; run < runs; ++run) sum = added(sum, sums[run * elements + i]);
    weight.set(i, sum);
  }
};

template <class Problem>
void compute(const Queue& queue, const Problem& p) {
  if (p.rows <= kFewRows || p.depth <= kShallow) compute_each(queue, p);
  else compute_tiles<kTile>(queue, p);
}

}  // namespace

void convolution(const Queue& queue, Out out, View in, View weight, View bias, Windows windows, int64_t groups, void*) {
  const Sizes sizes(out, in, weight, windows, groups);
  visit_number(out.dtype, [&](auto zero) { compute(queue, Forward<decltype(zero)>(sizes, out, in, weight, bias)); });
}

void convolution_input(const Queue& queue, Out in, View out, View weight, Windows windows, int64_t groups, void*) {
  const Sizes sizes(out, in, weight, windows, groups);
  visit_number(in.dtype, [&](auto zero) { compute(queue, Input<decltype(zero)>(sizes, in, out, weight)); });
}

void convolution_weight(const Queue& queue, Out weight, View out, View in, Windows windows, int64_t groups, void* workspace) {
  const Sizes sizes(out, in, weight, windows, groups);
  const Runs runs(sizes);
  visit_number(weight.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Weight<T> p(sizes, runs, weight, out, in, workspace);
    constexpr int tile = std::is_integral_v<T> ? kTile / 2 : kTile;  // 64-bit integers have registers for less
    if (p.rows <= kFewRows) compute_inner<kThreads>(queue, p);
    else compute_tiles<tile>(queue, p);
    if (runs.count > 1) for_each(queue, weight.numel(), SumOfRuns<T>{p.weight, p.sums, runs.count, weight.numel()});
  });
}

size_t convolution_workspace(ConvolutionPart part, const View& out, const View& in, const View& weight, const Windows& windows,
                             int64_t groups, bool) {
  if (part != ConvolutionPart::Weight) return 0;
  const Runs runs(Sizes(out, in, weight, windows, groups));
  const size_t size = weight.dtype == kFloat64 || !is_floating(weight.dtype) ? 8 : 4;
  return runs.count > 1 ? static_cast<size_t>(runs.count * weight.numel()) * size : 0;
}

}  // namespace tandem::kernels::cuda
