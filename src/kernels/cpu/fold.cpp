// What sliding windows see, laid out one after another, and the sums that bring it back. A thread takes whole channels, so that no two
// threads add to one element.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/blocks.h"
#include "kernels/cpu/entries.h"

namespace tandem::kernels::cpu {
namespace {

/// Calls `f(element of image, element of columns)` for every place that a window sees, and `padding(element of columns)` for the others.
/// `image` is (n, c, d, h, w), `columns` (n, c, kd, kh, kw, od, oh, ow).
template <class Image, class Columns, class F, class P>
void each_place(const Queue& queue, const View& image, const View& columns, const Windows& w, Image* pixels, Columns* seen, F f,
                P padding) {
  const int64_t channels = image.sizes[1];
  int64_t places = 1;
  for (int d = 2; d < 8; ++d) places *= columns.sizes[d];
  if (places == 0) return;
  parallel_for(image.sizes[0] * channels, std::max<int64_t>(1, 16384 / places), queue.threads, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      Image* const base = pixels + plane / channels * image.strides[0] + plane % channels * image.strides[1];
      Columns* const there = seen + plane / channels * columns.strides[0] + plane % channels * columns.strides[1];
      int64_t k[3], o[3];
      const auto at = [&](int d) { return o[d] * w.stride[d] - w.padding[d] + k[d] * w.dilation[d]; };
      const auto inside = [&](int d, int64_t i) { return i >= 0 && i < image.sizes[2 + d]; };
      for (k[0] = 0; k[0] < w.kernel[0]; ++k[0])
        for (k[1] = 0; k[1] < w.kernel[1]; ++k[1])
          for (k[2] = 0; k[2] < w.kernel[2]; ++k[2])
            for (o[0] = 0; o[0] < columns.sizes[5]; ++o[0])
              for (o[1] = 0; o[1] < columns.sizes[6]; ++o[1]) {
                Columns* row = there + o[0] * columns.strides[5] + o[1] * columns.strides[6];
                for (int d = 0; d < 3; ++d) row += k[d] * columns.strides[2 + d];
                const int64_t z = at(0), y = at(1);
                const bool has_row = inside(0, z) && inside(1, y);
                Image* const line = has_row ? base + z * image.strides[2] + y * image.strides[3] : base;
                for (o[2] = 0; o[2] < columns.sizes[7]; ++o[2]) {
                  const int64_t x = at(2);
                  if (has_row && inside(2, x)) f(line[x * image.strides[4]], row[o[2] * columns.strides[7]]);
                  else padding(row[o[2] * columns.strides[7]]);
                }
              }
    }
  });
}

}  // namespace

void unfold(const Queue& queue, Out out, View in, Windows windows) {
  visit_width(out.dtype, [&]<class T>(T) {
    each_place(
        queue, in, out, windows, in.as<const T>(), out.as<T>(), [](const T& from, T& to) { to = from; }, [](T& to) { to = T(0); });
  });
}

void fold(const Queue& queue, Out out, View in, Windows windows) {
  fill(queue, out, Value{});
  visit(in.dtype, [&]<class T>(T) {
    each_place(
        queue, out, in, windows, out.as<Sum<T>>(), in.as<const T>(), [](Sum<T>& to, const T& from) { add_to(to, from); }, [](const T&) {});
  });
}

}  // namespace tandem::kernels::cpu
