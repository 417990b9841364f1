// Running sums and products along the last dimension. Floats are carried in double. A row is one chain of dependent additions, so rows are
// shared out.
#include "base/parallel.h"
#include "kernels/cpu/entries.h"
#include "kernels/cpu/reduction_plan.h"

namespace tandem::kernels::cpu {
namespace {

constexpr int64_t kGrain = 8 << 10;

template <class T, class Carry>
void run(const Queue& queue, Scan op, const Out& out, const View& in, Compute compute) {
  const Isa& set = isa();
  const int last = in.ndim - 1;
  const Dims rows = dims_of(in, &out, 0, last, true);
  const int64_t columns = in.ndim ? in.sizes[last] : 1, in_stride = in.ndim ? in.strides[last] : 1,
                out_stride = in.ndim ? out.strides[last] : 1;
  const Pack pack = set.pack[static_cast<int>(in.dtype)][compute];
  const Unpack unpack = set.unpack[compute][static_cast<int>(out.dtype)];
  const int64_t in_size = static_cast<int64_t>(size_of(in.dtype)), out_size = static_cast<int64_t>(size_of(out.dtype));
  parallel_for(rows.numel(), std::max<int64_t>(1, kGrain / columns), queue.threads, [&](int64_t begin, int64_t end) {
    T buffer[kRunBuffer];
    for (int64_t row = begin; row < end; ++row) {
      int64_t in_offset, out_offset;
      rows.locate(row, in_offset, out_offset);
      Carry carry = op == Scan::Sum ? 0 : 1;
      for (int64_t i = 0; i < columns; i += kRunBuffer) {
        const int64_t n = std::min(kRunBuffer, columns - i);
        pack(buffer, in.as<const char>() + (in_offset + i * in_stride) * in_size, in_stride, n);
        if (op == Scan::Sum)
          for (int64_t k = 0; k < n; ++k) buffer[k] = static_cast<T>(carry += static_cast<Carry>(buffer[k]));
        else
          for (int64_t k = 0; k < n; ++k) buffer[k] = static_cast<T>(carry *= static_cast<Carry>(buffer[k]));
        unpack(out.as<char>() + (out_offset + i * out_stride) * out_size, out_stride, buffer, n);
      }
    }
  });
}

}  // namespace

void scan(const Queue& queue, Scan op, Out out, View in) {
  if (in.numel() == 0) return;
  switch (compute_of(out.dtype)) {
    case kComputeFloat: return run<float, double>(queue, op, out, in, kComputeFloat);
    case kComputeDouble: return run<double, double>(queue, op, out, in, kComputeDouble);
    default: return run<int64_t, uint64_t>(queue, op, out, in, kComputeInt);  // wraps
  }
}

}  // namespace tandem::kernels::cpu
