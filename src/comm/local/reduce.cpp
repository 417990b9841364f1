// Reductions by the CPU's pointwise kernels, which are compiled for each instruction set: a block of elements at a time, which stays in the
// first cache while all ranks' are taken into it.
#include "comm/local/reduce.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/cpu/isa/isa.h"

namespace tandem::comm {
namespace {

namespace cpu = kernels::cpu;
using kernels::PointwiseOp;

constexpr int64_t kBlock = 1024;  // elements

PointwiseOp pointwise(ReduceOp op, DType dtype) {
  switch (op) {
    // Of truth values: or, and.
    case ReduceOp::SUM:
    case ReduceOp::AVG: return dtype == DType::Bool ? PointwiseOp::maximum : PointwiseOp::add;
    case ReduceOp::PRODUCT: return dtype == DType::Bool ? PointwiseOp::minimum : PointwiseOp::mul;
    case ReduceOp::MIN: return PointwiseOp::minimum;
    default: return PointwiseOp::maximum;
  }
}

const std::byte* at(const void* data, int64_t index, size_t size) {
  return static_cast<const std::byte*>(data) + index * static_cast<int64_t>(size);
}

template <class T>
void divide(void* block, int64_t n, int count) {
  auto* x = static_cast<T*>(block);
  for (int64_t i = 0; i < n; ++i) x[i] /= static_cast<T>(count);
}

}  // namespace

void reduce_elements(void* out, const void* const* inputs, int count_of_inputs, int64_t count, DType dtype, ReduceOp op) {
  const cpu::Isa& isa = cpu::isa();
  const cpu::Compute compute = cpu::compute_of(dtype);
  const cpu::Tile tile = isa.pointwise.tiles[static_cast<int>(pointwise(op, dtype))][compute];
  const size_t size = size_of(dtype), wide = size_of(cpu::dtype_for(compute));
  const bool packs = cpu::dtype_for(compute) != dtype;
  const cpu::Pack pack = isa.conversions.pack_to(compute, dtype);
  const cpu::Unpack unpack = isa.conversions.unpack_from(compute, dtype);
  if (count_of_inputs == 2 && !packs && op != ReduceOp::AVG) return tile(out, inputs, count);  // `out` may be either of them
  alignas(64) std::byte sums[kBlock * 8], next[kBlock * 8];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t n = std::min(kBlock, count - begin);
    const size_t bytes = static_cast<size_t>(n) * wide;
    const auto elements = [&](int rank, std::byte* packed) -> const void* {
      const std::byte* const from = at(inputs[rank], begin, size);
      if (!packs) return from;
      pack(packed, from, 1, n);
      return packed;
    };
    if (const void* first = elements(0, sums); first != sums) std::memcpy(sums, first, bytes);
    for (int rank = 1; rank < count_of_inputs; ++rank) {
      const void* const pair[] = {sums, elements(rank, next)};
      tile(sums, pair, n);
    }
    if (op == ReduceOp::AVG) {
      if (compute == cpu::kComputeFloat) divide<float>(sums, n, count_of_inputs);
      else divide<double>(sums, n, count_of_inputs);
    }
    void* const to = const_cast<std::byte*>(at(out, begin, size));
    if (packs) unpack(to, 1, sums, n);
    else std::memcpy(to, sums, bytes);
  }
}

}  // namespace tandem::comm
