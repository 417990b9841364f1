// Padding by a value, or by the elements themselves: mirrored, repeated, or from the other end. A thread an element of the result: of the
// padded tensor it finds where the element comes from; for the gradient it goes over the places of the padded tensor that its element
// copies to, so that sums meet no other thread.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"
#include "kernels/padding_source.h"

namespace tandem::kernels::cuda {
namespace {

/// The dimensions of the padded tensor and of the other one; those that are not padded and lie one in the other are merged.
struct PaddedDims {
  int ndim = 0;
  int64_t narrow[kMaxDims], wide[kMaxDims], before[kMaxDims], narrow_strides[kMaxDims], wide_strides[kMaxDims];
  Divide by_narrow[kMaxDims], by_wide[kMaxDims];
  Padding mode;

  PaddedDims(const View& wide_view, const View& narrow_view, Span<int64_t> front, Padding mode) : mode(mode) {
    StridedDims<2> joined;
    bool last_is_same = false;
    for (int d = 0; d < wide_view.ndim; ++d) {
      const bool same = front[d] == 0 && wide_view.sizes[d] == narrow_view.sizes[d];
      joined.push(wide_view.sizes[d], {wide_view.strides[d], narrow_view.strides[d]}, same && last_is_same);
      ndim = joined.ndim;
      before[ndim - 1] = front[d];
      narrow[ndim - 1] = same ? joined.sizes[ndim - 1] : narrow_view.sizes[d];
      last_is_same = same;
    }
    for (int d = 0; d < ndim; ++d) {
      wide[d] = joined.sizes[d];
      wide_strides[d] = joined.strides[0][d];
      narrow_strides[d] = joined.strides[1][d];
      by_narrow[d] = Divide(narrow[d]);
      by_wide[d] = Divide(wide[d]);
    }
  }
  TD_DEVICE bool is_padded(int d) const { return before[d] != 0 || wide[d] != narrow[d]; }
};

template <class T>
struct Pad {
  T* out;
  const T* in;
  T filling;
  PaddedDims dims;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t to = 0, from = 0;
    bool inside = true;
    for_indices(i, dims.ndim, dims.by_wide, [&](int d, int64_t at) {
      const int64_t source = dims.is_padded(d) ? padding_source(at, dims.before[d], dims.narrow[d], dims.wide[d], dims.mode) : at;
      inside = inside && source >= 0;
      to += at * dims.wide_strides[d];
      from += source * dims.narrow_strides[d];
    });
    out[to] = inside ? in[from] : filling;
  }
};

/// The places of the padded tensor that an element of one dimension copies to: up to three runs, gone through one after another.
struct Copies {
  int64_t first[3], count[3];  // in front, in the middle, behind
  int64_t stride, step;
  int run;

  TD_DEVICE void find(const PaddedDims& dims, int d, int64_t i) {
    for (int k = 0; k < 3; ++k) first[k] = count[k] = 0;
    stride = dims.wide_strides[d];
    const int64_t before = dims.before[d], size = dims.narrow[d], wide = dims.wide[d];
    const auto one = [&](int k, int64_t place, bool belongs) {
      first[k] = place;
      count[k] = belongs && place >= 0 && place < wide ? 1 : 0;
    };
    if (dims.mode == Padding::Reflect) {
      one(0, before - i, i > 0);
      one(1, before + i, true);
      one(2, before + 2 * (size - 1) - i, i < size - 1);
    } else if (dims.mode == Padding::Replicate) {
      const int64_t from = i == 0 || before + i < 0 ? 0 : before + i,
                    until = i == size - 1 || before + i + 1 > wide ? wide : before + i + 1;
      first[1] = from;
      count[1] = until > from ? until - from : 0;
    } else {
      const int64_t after = wide - size - before, left = before < 0 ? -before : 0, right = size + (after < 0 ? after : 0);
      const bool stays = i >= left && i < right;
      one(0, before + i - (right - left), stays);
      one(1, before + i, stays);
      one(2, before + i + (right - left), stays);
    }
    restart();
  }
  TD_DEVICE void settle() {
    while (run < 3 && step >= count[run]) {
      ++run;
      step = 0;
    }
  }
  TD_DEVICE void restart() {
    run = 0;
    step = 0;
    settle();
  }
  /// To the next place; false after the last one.
  TD_DEVICE bool next() {
    ++step;
    settle();
    return run < 3;
  }
  TD_DEVICE bool anywhere() const { return run < 3; }
  TD_DEVICE int64_t offset() const { return (first[run] + step) * stride; }
};

template <class T>
struct PadBackward {
  Numbers<Compute<T>> to;
  Numbers<T> from;
  PaddedDims dims;

  TD_DEVICE void operator()(int64_t i) const {
    int64_t base = 0;
    Copies copies[kMaxDims];  // of the padded dimensions, the last one first
    int count = 0;
    bool anywhere = true;
    for_indices(i, dims.ndim, dims.by_narrow, [&](int d, int64_t at) {
      if (!dims.is_padded(d)) {
        base += at * dims.wide_strides[d];
      } else {
        copies[count].find(dims, d, at);
        anywhere = anywhere && copies[count++].anywhere();
      }
    });
    Compute<T> sum = 0;
    while (anywhere) {
      int64_t offset = base;
      for (int k = 0; k < count; ++k) offset += copies[k].offset();
      sum = added(sum, from[offset]);
      int k = 0;
      while (k < count && !copies[k].next()) copies[k++].restart();
      anywhere = k < count;
    }
    to.set(i, sum);
  }
};

}  // namespace

void pad(const Queue& queue, Out out, View in, Span<int64_t> before, Padding mode, Value value) {
  // The value as an element of the dtype.
  alignas(8) char element[8] = {};
  visit(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    T filling;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) filling = T(value.to<float>());
    else filling = value.to<T>();
    std::memcpy(element, &filling, sizeof filling);
  });
  visit_width(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    T filling;
    std::memcpy(&filling, element, sizeof filling);
    for_each(queue, out.numel(), Pad<T>{out.as<T>(), in.as<const T>(), filling, PaddedDims(out, in, before, mode)});
  });
}

void pad_backward(const Queue& queue, Out out, View grad, Span<int64_t> before, Padding mode) {
  visit_number(grad.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each(queue, out.numel(), PadBackward<T>{Numbers<Compute<T>>(out), Numbers<T>(grad), PaddedDims(grad, out, before, mode)});
  });
}

}  // namespace tandem::kernels::cuda
