// Where the windows of pooling lie, and what their averages are divided by: the same in every backend.
#pragma once

#include <algorithm>

#include "kernels/math.h"
#include "kernels/table.h"

namespace tandem::kernels {

/// Where one window of one dimension begins and ends in the input, and what it is taken to be long with its padding.
struct PoolingRange {
  int64_t begin, end, whole;
};

/// The windows of one dimension.
struct PoolingAxis {
  int64_t in, out, kernel, stride, padding, dilation;
  bool adaptive;

  PoolingAxis(const Pooling& pooling, int d, int64_t in, int64_t out)
      : in(in),
        out(out),
        kernel(pooling.windows.kernel[d]),
        stride(pooling.windows.stride[d]),
        padding(pooling.windows.padding[d]),
        dilation(pooling.windows.dilation[d]),
        adaptive(pooling.adaptive) {}

  /// Of window `o`, computed in I; an adaptive one in 64 bits.
  template <class I = int64_t>
  [[nodiscard]] TD_HOST_DEVICE PoolingRange at(I o) const {
    if (adaptive) {
      const int64_t begin = o * in / out, end = ((o + 1) * in + out - 1) / out;
      return {begin, end, end - begin};
    }
    const I size = static_cast<I>(in), pad = static_cast<I>(padding), step = static_cast<I>(dilation);
    const I start = o * static_cast<I>(stride) - pad, stop = start + (static_cast<I>(kernel) - 1) * step + 1;
    // With ceil_mode the last window may reach beyond the padding; what is there does not count.
    return {start < 0 ? start + (-start + step - 1) / step * step : start, std::min(stop, size), std::min<I>(stop, size + pad) - start};
  }
};

/// How long a window counts for an average.
TD_HOST_DEVICE inline int64_t length_of(const Pooling& pooling, const PoolingRange& range) {
  return pooling.count_include_pad || pooling.adaptive ? range.whole : range.end - range.begin;
}
TD_HOST_DEVICE inline int64_t divisor_of(const Pooling& pooling, const PoolingRange& d, const PoolingRange& h, const PoolingRange& w) {
  return pooling.divisor ? pooling.divisor : length_of(pooling, d) * length_of(pooling, h) * length_of(pooling, w);
}

}  // namespace tandem::kernels
