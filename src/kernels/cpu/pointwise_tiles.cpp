// Tiles of pointwise calls. What a functor's tile function sees is contiguous and of its compute type; operands with strides, of other
// types, or numbers are packed into buffers that stay in the first cache, and results of other types or with strides leave through one.
#include "kernels/cpu/pointwise_tiles.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/runs.h"
#include "kernels/cpu/streaming.h"

namespace tandem::kernels::cpu {
namespace {

bool has_zero(const int64_t* values, int64_t n) {
  bool found = false;
  for (int64_t i = 0; i < n; ++i) found |= values[i] == 0;
  return found;
}

/// Reports a value outside [0, 1], the first that there is; `which` operand has it, from 1.
template <class T>
void check_probabilities(const Queue& queue, const T* values, int64_t n, int64_t which) {
  bool all = true;
  for (int64_t i = 0; i < n; ++i) all &= values[i] >= 0 && values[i] <= 1;
  if (all) return;
  const T* const bad = std::find_if(values, values + n, [](T x) { return !(x >= 0 && x <= 1); });
  queue.status->report(Trouble::NotProbability, std::bit_cast<int64_t>(static_cast<double>(*bad)), which);
}

/// What the operation has no answer for among n elements of its operands, which are packed.
void check(const TilePlan& plan, const Queue& queue, const void* const* in, int64_t n) {
  if (plan.check == OperandCheck::Divisor) {
    if (has_zero(static_cast<const int64_t*>(in[1]), n)) queue.status->report(Trouble::DivisionByZero);
  } else if (plan.check == OperandCheck::Probabilities) {
    for (int i = 0; i < 2; ++i) {
      if (plan.compute == kComputeFloat) check_probabilities(queue, static_cast<const float*>(in[i]), n, i + 1);
      else check_probabilities(queue, static_cast<const double*>(in[i]), n, i + 1);
    }
  }
}

/// Elements [begin, end), at most a tile of them.
void run_tile(const TilePlan& plan, Buffer* buffers, const Queue& queue, int64_t begin, int64_t end) {
  const Pointwise& call = plan.call;
  const int64_t n = end - begin;
  const size_t width = plan.compute == kComputeFloat ? 4 : 8;
  const void* in[kMaxOperands];
  for (int i = 0; i < plan.inputs; ++i) {
    const PointwiseOperand& operand = call.in[i];
    const char* data = static_cast<const char*>(operand.data);
    if (plan.direct[i]) {
      in[i] = data + static_cast<size_t>(begin) * width;
      continue;
    }
    in[i] = buffers[i].bytes;
    if (!data) continue;  // a number: filled beforehand
    const Pack pack = plan.set.conversions.pack_to(plan.compute, operand.dtype);
    const size_t size = size_of(operand.dtype);
    if (plan.dense[i]) {
      pack(buffers[i].bytes, data + static_cast<size_t>(begin) * size, 1, n);
    } else {
      const int64_t stride = operand.strides[call.ndim - 1];
      for_runs<1>(call.ndim, call.sizes, {operand.strides}, begin, end, [&](const int64_t* offset, int64_t at, int64_t count) {
        pack(buffers[i].bytes + static_cast<size_t>(at) * width, data + offset[0] * static_cast<int64_t>(size), stride, count);
      });
    }
  }
  check(plan, queue, in, n);
  const size_t size = size_of(call.out_dtype);
  char* const out = static_cast<char*>(call.out);
  if (plan.out_direct && !plan.stream) {
    plan.tile(out + static_cast<size_t>(begin) * size, in, n);
    return;
  }
  Buffer& result = buffers[kMaxOperands];
  plan.tile(result.bytes, in, n);
  if (plan.out_direct) {
    stream_copy(out + static_cast<size_t>(begin) * size, result.bytes, static_cast<size_t>(n) * size);
    return;
  }
  const char* from = result.bytes;
  const int64_t stride = call.out_strides[call.ndim - 1];
  if (plan.natural == kBool && call.out_dtype != kBool) {  // a comparison into another type: through the compute type
    plan.set.conversions.pack_to(plan.compute, kBool)(buffers[kMaxOperands + 1].bytes, result.bytes, 1, n);
    from = buffers[kMaxOperands + 1].bytes;
  }
  if (plan.natural == kBool && call.out_dtype == kBool) {
    for_runs<1>(call.ndim, call.sizes, {call.out_strides}, begin, end, [&](const int64_t* offset, int64_t at, int64_t count) {
      for (int64_t k = 0; k < count; ++k) out[offset[0] + k * stride] = from[at + k];
    });
    return;
  }
  const Unpack unpack = plan.set.conversions.unpack_from(plan.compute, call.out_dtype);
  if (plan.out_dense) {
    unpack(out + static_cast<size_t>(begin) * size, 1, from, n);
  } else {
    for_runs<1>(call.ndim, call.sizes, {call.out_strides}, begin, end, [&](const int64_t* offset, int64_t at, int64_t count) {
      unpack(out + offset[0] * static_cast<int64_t>(size), stride, from + static_cast<size_t>(at) * width, count);
    });
  }
}

constexpr int64_t kPanelRows = 16;
constexpr int64_t kPanelColumns = 512;
constexpr int64_t kPanelStride = kPanelColumns + 16;  // not a power of two: the rows shall not fall into the same places of the cache

bool transposed(const TilePlan& plan, int i) {
  const PointwiseOperand& operand = plan.call.in[i];
  const int last = plan.call.ndim - 1;
  return operand.data && operand.dtype == plan.call.compute && operand.strides[last - 1] == 1 && operand.strides[last] != 0 &&
         operand.strides[last] != 1;
}

}  // namespace

Shares shares_of(int64_t numel, int threads) {
  constexpr int64_t pieces_each = 8, least = 4 * kTile, most = 16 * kTile;
  const auto used = static_cast<int>(std::min<int64_t>(threads, (numel + kGrain - 1) / kGrain));
  if (used == 1) return {1, numel};
  return {used, std::clamp((numel / (pieces_each * used) + kTile - 1) / kTile * kTile, least, most)};
}

bool is_straight(const TilePlan& plan) {
  bool straight = plan.out_direct && !plan.stream && plan.check == OperandCheck::None;
  for (int i = 0; i < plan.inputs; ++i) straight &= plan.direct[i] || !plan.call.in[i].data;
  return straight;
}

void run_straight(const TilePlan& plan, char* out, const Stream* operands, int64_t n) {
  const void* in[kMaxOperands];
  bool copies = false;
  for (int i = 0; i < plan.inputs; ++i) {
    in[i] = operands[i].from;
    copies |= operands[i].step == 0 && plan.copies(i, n) > 1;
  }
  if (copies && n > kTile) run_tile_by_tile(plan, out, operands, n);
  else plan.tile(out, in, n);
}

void run_tile_by_tile(const TilePlan& plan, char* out, const Stream* operands, int64_t n) {
  const void* in[kMaxOperands];
  for (int i = 0; i < plan.inputs; ++i) in[i] = operands[i].from;
  const int64_t out_step = kTile * static_cast<int64_t>(size_of(plan.natural));
  for (; n > 0; n -= kTile, out += out_step) {
    plan.tile(out, in, std::min(n, kTile));
    for (int i = 0; i < plan.inputs; ++i) in[i] = static_cast<const char*>(in[i]) + operands[i].step;
  }
}

/// n copies of a number in the compute type.
void fill_number(void* to, Value value, Compute compute, int64_t n, const Isa& set) {
  union {
    float single;
    double wide;
    int64_t integer;
  } number;
  if (compute == kComputeFloat) number.single = value.to<float>();
  else if (compute == kComputeDouble) number.wide = value.to<double>();
  else number.integer = value.to<int64_t>();
  set.conversions.pack_to(compute, dtype_for(compute))(to, &number, 0, n);
}

void run_tiles(const Queue& queue, const TilePlan& plan) {
  const Pointwise& call = plan.call;
  const bool straight = is_straight(plan);
  const int64_t width = static_cast<int64_t>(size_of(dtype_for(plan.compute))), out_width = static_cast<int64_t>(size_of(call.out_dtype));
  const auto [threads, piece] = shares_of(call.numel, queue.threads);
  parallel_for(call.numel, piece, threads, [&](int64_t begin, int64_t end) {
    Buffer buffers[kMaxOperands + 2];  // NOLINT: filled as far as they are read
    Stream operands[kMaxOperands];
    for (int i = 0; i < plan.inputs; ++i) {
      if (const auto* data = static_cast<const char*>(call.in[i].data)) {
        operands[i] = {data + begin * width, kTile * width};
        continue;
      }
      fill_number(buffers[i].bytes, call.in[i].value, plan.compute, plan.copies(i, end - begin), plan.set);
      operands[i] = {buffers[i].bytes, 0};
    }
    if (straight) return run_straight(plan, static_cast<char*>(call.out) + begin * out_width, operands, end - begin);
    for (int64_t at = begin; at < end; at += kTile) run_tile(plan, buffers, queue, at, std::min(at + kTile, end));
  });
}

bool wants_panels(const TilePlan& plan) {
  const Pointwise& call = plan.call;
  const int last = call.ndim - 1;
  if (last < 1 || call.sizes[last] < 16 || call.sizes[last - 1] < 8 || call.out_strides[last] != 1 || call.out_dtype != plan.natural)
    return false;
  for (int i = 0; i < plan.inputs; ++i)
    if (transposed(plan, i)) return true;
  return false;
}

void run_panels(const Queue& queue, const TilePlan& plan) {
  const Pointwise& call = plan.call;
  const int last = call.ndim - 1;
  const int64_t rows = call.sizes[last - 1], columns = call.sizes[last];
  const int64_t row_blocks = (rows + kPanelRows - 1) / kPanelRows, column_blocks = (columns + kPanelColumns - 1) / kPanelColumns;
  const int64_t panels = call.numel / (rows * columns) * row_blocks * column_blocks;
  const int64_t width = plan.compute == kComputeFloat ? 4 : 8, out_size = static_cast<int64_t>(size_of(call.out_dtype));
  bool is_transposed[kMaxOperands];
  for (int i = 0; i < plan.inputs; ++i) is_transposed[i] = transposed(plan, i);
  parallel_for(panels, std::max<int64_t>(1, kGrain / (kPanelRows * std::min(columns, kPanelColumns))), queue.threads,
               [&](int64_t begin, int64_t end) {
                 struct alignas(64) Panel {
                   char bytes[kPanelRows * kPanelStride * 8];
                 };
                 Panel panel[kMaxOperands];     // NOLINT: filled as far as they are read
                 Buffer buffers[kMaxOperands];  // NOLINT
                 for (int i = 0; i < plan.inputs; ++i)
                   if (!call.in[i].data) fill_number(buffers[i].bytes, call.in[i].value, plan.compute, kPanelColumns, plan.set);
                 for (int64_t at = begin; at < end; ++at) {
                   const int64_t column = at % column_blocks * kPanelColumns, row = at / column_blocks % row_blocks * kPanelRows;
                   int64_t out_base = row * call.out_strides[last - 1] + column, bases[kMaxOperands];
                   for (int i = 0; i < plan.inputs; ++i) bases[i] = row * call.in[i].strides[last - 1] + column * call.in[i].strides[last];
                   for_indices(at / column_blocks / row_blocks, last - 1, call.sizes, [&](int d, int64_t index) {
                     out_base += index * call.out_strides[d];
                     for (int i = 0; i < plan.inputs; ++i) bases[i] += index * call.in[i].strides[d];
                   });
                   const int64_t height = std::min(kPanelRows, rows - row), n = std::min(kPanelColumns, columns - column);
                   for (int i = 0; i < plan.inputs; ++i) {
                     if (!is_transposed[i]) continue;
                     const char* from = static_cast<const char*>(call.in[i].data) + bases[i] * width;
                     plan.set.conversions.transpose[width == 8](panel[i].bytes, kPanelStride, from, call.in[i].strides[last], height, n);
                   }
                   for (int64_t r = 0; r < height; ++r) {
                     const void* in[kMaxOperands];
                     for (int i = 0; i < plan.inputs; ++i) {
                       const PointwiseOperand& operand = call.in[i];
                       in[i] = buffers[i].bytes;
                       if (!operand.data) continue;
                       const int64_t offset = bases[i] + r * operand.strides[last - 1], size = static_cast<int64_t>(size_of(operand.dtype));
                       const char* from = static_cast<const char*>(operand.data) + offset * size;
                       if (is_transposed[i]) in[i] = panel[i].bytes + r * kPanelStride * width;
                       else if (operand.strides[last] == 1 && operand.dtype == call.compute) in[i] = from;
                       else plan.set.conversions.pack_to(plan.compute, operand.dtype)(buffers[i].bytes, from, operand.strides[last], n);
                     }
                     check(plan, queue, in, n);
                     plan.tile(static_cast<char*>(call.out) + (out_base + r * call.out_strides[last - 1]) * out_size, in, n);
                   }
                 }
               });
}

}  // namespace tandem::kernels::cpu
