// What recurrent networks are made of: the pointwise part of a step, one kernel each, with gradients; and any kind of network by one call.
// For the library.
#pragma once

#include "kernels/recurrent_layers.h"
#include "ops/recurrent/recurrent.h"

namespace tandem::ops {

using RecurrentKind = kernels::RecurrentCell;
using kernels::gates_of;
/// What `lstm`, `gru`, `rnn_tanh` and `rnn_relu` compute, with an input of (T, N, input). Or, with batch sizes, of packed sequences of
/// different lengths: (sum of batch_sizes, input) has the rows of one step after those of the step before, and step t has batch_sizes[t]
/// of them, never more than the step before, so that longer sequences come first; the output is packed alike, and a sequence's last state
/// is that of its own last step. `hx`: h, and c for an LSTM. c_n is undefined for the others.
LstmResult recurrent(const char* op, RecurrentKind kind, const Tensor& input, const Shape* batch_sizes, const std::vector<Tensor>& hx,
                     const std::vector<Tensor>& params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional,
                     Site site);
/// The same, a few operations for each step.
LstmResult recurrent_steps(const char* op, RecurrentKind kind, const Tensor& input, const Shape* batch_sizes, const std::vector<Tensor>& hx,
                           const std::vector<Tensor>& params, bool has_biases, int64_t num_layers, double dropout, bool train,
                           bool bidirectional, Site site);

/// From gates (N, 4 hidden) - input, forget, cell, output - and the cell's state (N, hidden).
LstmState lstm_step(const Tensor& gates, const Tensor& c, Site site);
/// From both products (N, 3 hidden) - reset, update, new - and the state (N, hidden).
Tensor gru_step(const Tensor& from_input, const Tensor& from_hidden, const Tensor& h, Site site);
/// The elements of the first dimension; their gradients are put together once.
std::vector<Tensor> steps_of(const Tensor& sequence, Site site);
/// The same of a packed sequence: step t is the next batch_sizes[t] rows, which add up to all.
std::vector<Tensor> steps_of(const Tensor& data, const Shape& batch_sizes, Site site);

}  // namespace tandem::ops
