// What sliding windows see, laid out one after another, and the sums that bring it back. Both are written by a thread an element: a sum
// asks for each element of a window which window has it here, so that sums meet no other thread.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/entries.h"

namespace tandem::kernels::cuda {
namespace {

template <class T>
struct Unfold {
  Out out;
  View in;
  Windows windows;
  Indices<8> indices;  // n, c, kd, kh, kw, od, oh, ow

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[8];
    indices(i, at);
    int64_t to = at[0] * out.strides[0] + at[1] * out.strides[1], from = at[0] * in.strides[0] + at[1] * in.strides[1];
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      const int64_t k = at[2 + d], o = at[5 + d], place = o * windows.stride[d] - windows.padding[d] + k * windows.dilation[d];
      inside = inside && place >= 0 && place < in.sizes[2 + d];
      to += k * out.strides[2 + d] + o * out.strides[5 + d];
      from += place * in.strides[2 + d];
    }
    static_cast<T*>(out.data)[to] = inside ? static_cast<const T*>(in.data)[from] : T(0);
  }
};

template <class T>
struct Fold {
  Out out;
  View in;
  Numbers<Compute<T>> to;
  Numbers<T> from;
  Windows windows;
  Divide by_stride[3];
  Indices<5> indices;  // n, c, d, h, w

  /// The window whose element k lies at `place` of dimension d; -1 if none.
  TD_DEVICE int64_t window(int d, int64_t place, int64_t k) const {
    const int64_t start = place + windows.padding[d] - k * windows.dilation[d];
    if (start < 0) return -1;
    const int64_t o = by_stride[d](start);
    return o * windows.stride[d] == start && o < in.sizes[5 + d] ? o : -1;
  }

  TD_DEVICE void operator()(int64_t i) const {
    int64_t at[5], k[3];
    indices(i, at);
    const int64_t base = at[0] * in.strides[0] + at[1] * in.strides[1];
    Compute<T> sum = 0;
    for (k[0] = 0; k[0] < windows.kernel[0]; ++k[0]) {
      const int64_t z = window(0, at[2], k[0]);
      if (z < 0) continue;
      for (k[1] = 0; k[1] < windows.kernel[1]; ++k[1]) {
        const int64_t y = window(1, at[3], k[1]);
        if (y < 0) continue;
        const int64_t row = base + k[0] * in.strides[2] + k[1] * in.strides[3] + z * in.strides[5] + y * in.strides[6];
        for (k[2] = 0; k[2] < windows.kernel[2]; ++k[2]) {
          const int64_t x = window(2, at[4], k[2]);
          if (x >= 0) sum = added(sum, from[row + k[2] * in.strides[4] + x * in.strides[7]]);
        }
      }
    }
    int64_t place = 0;
    for (int d = 0; d < 5; ++d) place += at[d] * out.strides[d];
    to.set(place, sum);
  }
};

}  // namespace

void unfold(const Queue& queue, Out out, View in, Windows windows) {
  const Indices<8> indices(out.sizes);
  visit_width(out.dtype, [&](auto zero) { for_each(queue, indices.count, Unfold<decltype(zero)>{out, in, windows, indices}); });
}

void fold(const Queue& queue, Out out, View in, Windows windows) {
  const Indices<5> indices(out.sizes);
  visit_number(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Fold<T> kernel{out,
                         in,
                         Numbers<Compute<T>>(out),
                         Numbers<T>(in),
                         windows,
                         {Divide(windows.stride[0]), Divide(windows.stride[1]), Divide(windows.stride[2])},
                         indices};
    for_each(queue, indices.count, kernel);
  });
}

}  // namespace tandem::kernels::cuda
