// Whole recurrent layers by the other entries of a table: what a backend without a library for them puts into the entries of these names.
//
// The input's part of the gates is one product over all steps; a step is then one product with the state and the kernel of the cell, which
// writes straight into the output. Backward is the same the other way round, and the gradients of weights and inputs are products over all
// steps. Nothing is allocated.
#pragma once

#include "kernels/table.h"

namespace tandem::kernels {

/// Rows of its weights for each hidden number.
[[nodiscard]] constexpr int64_t gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::Lstm ? 4 : cell == RecurrentCell::Gru ? 3 : 1;
}

/// Table::recurrent, Table::recurrent_backward and Table::recurrent_memory by what `table` has. `parts`: how many parts of the batch may be
/// computed side by side by threads of the host, each by calls of its own; 1 for a device that is only handed kernels.
void recurrent_layers(const Table& table, const Queue& queue, Out out, Out h, Out c, Out reserve, View in, View h0, View c0,
                      Span<View> weights, RecurrentLayers layers, int64_t parts, void* workspace);
void recurrent_layers_backward(const Table& table, const Queue& queue, Out in_grad, Out h0_grad, Out c0_grad, Span<Out> weight_grads,
                               Out reserve, View grad, View h_grad, View c_grad, View in, View out, View h0, View c0, Span<View> weights,
                               RecurrentLayers layers, int64_t parts, void* workspace);
RecurrentMemory recurrent_layers_memory(const Table& table, const View& in, const View& h0, const RecurrentLayers& layers, int64_t parts);

}  // namespace tandem::kernels
