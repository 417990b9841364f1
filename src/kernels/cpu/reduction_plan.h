// What all reductions share: their dimensions, collapsed where the strides allow it, and runs of elements in the compute type.
#pragma once

#include <numeric>

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/runs.h"

namespace tandem::kernels::cpu {

/// The operands of a reduction, by their number among the strides.
enum Operands { kIn, kOut };
using CollapsedDims = StridedDims<2>;

/// Dimensions [begin, end) of `in`, with the output's strides where it has them; one at least. Where the order is free, the largest input
/// stride comes first.
inline CollapsedDims collapsed_dims(const View& in, const View* out, int begin, int end, bool ordered) {
  int order[kMaxDims] = {};
  if (ordered) std::iota(order, order + (end - begin), begin);
  else order_by_stride(begin, end, in.strides, order);
  CollapsedDims dims;
  for (int i = 0; i < end - begin; ++i) dims.push(in.sizes[order[i]], {in.strides[order[i]], out ? out->strides[order[i]] : 0});
  dims.require_one();
  return dims;
}

inline constexpr int64_t kRunBuffer = 1024;  // elements converted at a time

/// Calls f(elements, n) for elements [begin, end) of the reduced dimensions, in order: contiguous, of the compute type.
template <class F>
void for_elements(const View& in, const CollapsedDims& reduced, int64_t offset, int64_t begin, int64_t end, Compute compute, const Isa& set,
                  F&& f) {
  const int64_t stride = reduced.strides[kIn][reduced.ndim - 1], size = static_cast<int64_t>(size_of(in.dtype));
  const bool straight = stride == 1 && in.dtype == dtype_for(compute);
  const Pack pack = set.conversions.pack_to(compute, in.dtype);
  const auto run = [&](const char* from, int64_t n) {
    if (straight) {
      f(static_cast<const void*>(from), n);
      return;
    }
    alignas(64) char buffer[kRunBuffer * 8];
    for (int64_t i = 0; i < n; i += kRunBuffer) {
      const int64_t count = std::min(kRunBuffer, n - i);
      pack(buffer, from + i * stride * size, stride, count);
      f(static_cast<const void*>(buffer), count);
    }
  };
  const char* const base = in.as<const char>() + offset * size;
  if (reduced.ndim == 1) return run(base + begin * stride * size, end - begin);
  for_runs<1>(reduced.ndim, reduced.sizes, {reduced.strides[kIn]}, begin, end,
              [&](const int64_t* at, int64_t, int64_t n) { run(base + at[0] * size, n); });
}

}  // namespace tandem::kernels::cpu
