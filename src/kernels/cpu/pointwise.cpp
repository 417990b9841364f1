// Pointwise calls: which tile function, and how its operands reach it. Small dense calls take a short way; the rest is planned here and run
// by pointwise_tiles.cpp and pointwise_rows.cpp.
#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/entries.h"
#include "kernels/cpu/pointwise_tiles.h"
#include "kernels/cpu/streaming.h"
#include "kernels/pointwise_simplified.h"

namespace tandem::kernels::cpu {
namespace {

/// Rows of pointwise.def, by number.
struct Row {
  int8_t inputs;
  bool compares;  // gives bool
};
constexpr Row kRows[] = {
#define TD_UNARY(name, Functor, rule, ...) {1, gives_bool(Rule::rule)},
#define TD_BINARY(name, Functor, rule, ...) {2, gives_bool(Rule::rule)},
#define TD_KERNEL(name, Functor, rule, inputs) {inputs, gives_bool(Rule::rule)},
#include "kernels/pointwise.def"
#undef TD_UNARY
#undef TD_BINARY
#undef TD_KERNEL
};

/// Whether strides are those of a contiguous tensor of the call's sizes.
bool is_dense(const Pointwise& call, const int64_t* strides) { return call.contiguous || is_contiguous(call.ndim, call.sizes, strides); }

}  // namespace

void pointwise(const Queue& queue, Pointwise call) {
  if (call.numel == 0) return;
  const Isa& set = isa();
  const PointwiseOp op = simplified(call);
  const Row row = kRows[static_cast<int>(op)];
  const Compute compute = compute_of(call.compute);
  const Tile by_numbers = set.pointwise.tiles_of_numbers[static_cast<int>(op)][compute];
  bool of_numbers = by_numbers != nullptr;
  for (int i = 1; i < row.inputs; ++i) of_numbers &= !call.in[i].data;
  const Tile of_elements = set.pointwise.tiles[static_cast<int>(op)][compute], tile = of_numbers ? by_numbers : of_elements;
  if (!tile || row.inputs > call.inputs) {
    queue.status->report(Trouble::Unsupported, static_cast<int64_t>(call.compute));
    return;
  }
  const DType natural = row.compares ? kBool : call.compute;
  const OperandCheck check = check_of(op, call.compute);

  // The short way: one thread, every operand a number or straight in memory.
  if (call.contiguous && call.out_dtype == natural && call.numel <= kTile && check == OperandCheck::None) {
    const void* in[kMaxOperands];
    Buffer numbers[2];  // NOLINT: filled as far as they are read
    int filled = 0, i = 0;
    for (; i < row.inputs; ++i) {
      if (call.in[i].data) {
        if (call.in[i].dtype != call.compute) break;
        in[i] = call.in[i].data;
      } else {
        if (filled == 2) break;
        fill_number(numbers[filled].bytes, call.in[i].value, compute, of_numbers && i > 0 ? 1 : call.numel, set);
        in[i] = numbers[filled++].bytes;
      }
    }
    if (i == row.inputs) {
      tile(call.out, in, call.numel);
      return;
    }
  }

  if (call.ndim == 0) {  // one element: as a row of one
    call.ndim = 1;
    call.sizes[0] = 1;
    call.out_strides[0] = 1;
    for (int i = 0; i < row.inputs; ++i) call.in[i].strides[0] = 1;
  }
  for (int i = 0; i < row.inputs; ++i)
    if (!call.in[i].data) std::fill_n(call.in[i].strides, call.ndim, 0);  // a number comes without
  if (!is_dense(call, call.out_strides)) collapse_dims(call, true);
  TilePlan plan{call, set, tile, of_numbers, compute, row.inputs, check, natural, false, false, false, {}, {}};
  plan.out_dense = is_dense(call, call.out_strides);
  plan.out_direct = plan.out_dense && call.out_dtype == natural;
  bool in_place = false;
  for (int i = 0; i < plan.inputs; ++i) {
    plan.dense[i] = call.in[i].data && is_dense(call, call.in[i].strides);
    plan.direct[i] = plan.dense[i] && call.in[i].dtype == call.compute;
    in_place |= call.in[i].data == call.out;
  }
  plan.stream = plan.out_direct && !in_place && streams(static_cast<size_t>(call.numel) * size_of(call.out_dtype));
  // In a row, an operand that is one column is a number.
  bool of_columns = by_numbers != nullptr;
  for (int i = 1; i < row.inputs; ++i) of_columns &= !call.in[i].data || call.in[i].strides[call.ndim - 1] == 0;
  if (of_columns) {
    plan.tile = by_numbers;
    plan.of_numbers = true;
  }
  if (wants_rows(plan)) return run_rows(queue, plan);
  plan.tile = tile;
  plan.of_numbers = of_numbers;
  if (wants_repeats(plan)) run_repeats(queue, plan);
  else if (wants_panels(plan)) run_panels(queue, plan);
  else run_tiles(queue, plan);
}

}  // namespace tandem::kernels::cpu
