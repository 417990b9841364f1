// What all reductions share: the kept and the reduced dimensions joined where they can be, and runs of elements in the compute type.
#pragma once

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/runs.h"

namespace tandem::kernels::cpu {

/// Dimensions with the strides of one or two operands, collapsed into as few as the strides allow.
struct CollapsedDims {
  int ndim = 0;
  int64_t sizes[kMaxDims], in[kMaxDims], out[kMaxDims];

  [[nodiscard]] int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) n *= sizes[d];
    return n;
  }
  /// Appends a dimension, joining it to the last one where the strides allow it.
  void add(int64_t size, int64_t in_stride, int64_t out_stride) {
    if (size == 1) return;
    if (ndim && in[ndim - 1] == in_stride * size && out[ndim - 1] == out_stride * size) {
      sizes[ndim - 1] *= size;
    } else {
      sizes[ndim++] = size;
    }
    in[ndim - 1] = in_stride;
    out[ndim - 1] = out_stride;
  }
  /// One dimension at least.
  void finish() {
    if (ndim) return;
    ndim = 1;
    sizes[0] = in[0] = out[0] = 1;
  }
  /// Where element `index` (in row-major order) lies.
  void locate(int64_t index, int64_t& in_offset, int64_t& out_offset) const {
    in_offset = out_offset = 0;
    for (int d = ndim - 1; d >= 0; --d) {
      const int64_t i = ndim == 1 ? index : index % sizes[d];
      index = ndim == 1 ? 0 : index / sizes[d];
      in_offset += i * in[d];
      out_offset += i * out[d];
    }
  }
};

/// Dimensions [begin, end) of `in`, with the output's strides where it has them. Where the order is free, the largest input stride comes
/// first.
inline CollapsedDims collapsed_dims(const View& in, const View* out, int begin, int end, bool ordered) {
  int order[kMaxDims], count = 0;
  for (int d = begin; d < end; ++d) {
    int at = count++;
    if (!ordered)
      for (; at > 0 && std::abs(in.strides[order[at - 1]]) < std::abs(in.strides[d]); --at) order[at] = order[at - 1];
    order[at] = d;
  }
  CollapsedDims dims;
  for (int i = 0; i < count; ++i) dims.add(in.sizes[order[i]], in.strides[order[i]], out ? out->strides[order[i]] : 0);
  dims.finish();
  return dims;
}

inline constexpr int64_t kRunBuffer = 1024;  // elements converted at a time

/// Calls f(elements, n) for elements [begin, end) of the reduced dimensions, in order: contiguous, of the compute type.
template <class F>
void for_elements(const View& in, const CollapsedDims& reduced, int64_t offset, int64_t begin, int64_t end, Compute compute, const Isa& set,
                  F&& f) {
  const int64_t stride = reduced.in[reduced.ndim - 1], size = static_cast<int64_t>(size_of(in.dtype));
  const bool straight = stride == 1 && in.dtype == dtype_for(compute);
  const Pack pack = set.pack[static_cast<int>(in.dtype)][compute];
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
  for_runs<1>(reduced.ndim, reduced.sizes, {reduced.in}, begin, end,
              [&](const int64_t* at, int64_t, int64_t n) { run(base + at[0] * size, n); });
}

}  // namespace tandem::kernels::cpu
