// The pointwise part of a recurrent step, one kernel each, with their gradients. For the library.
#pragma once

#include "ops/recurrent.h"

namespace tandem::ops {

/// From gates (N, 4 hidden) - input, forget, cell, output - and the cell's state (N, hidden).
LstmState lstm_step(const Tensor& gates, const Tensor& c, Site site);
/// From both products (N, 3 hidden) - reset, update, new - and the state (N, hidden).
Tensor gru_step(const Tensor& from_input, const Tensor& from_hidden, const Tensor& h, Site site);
/// The elements of the first dimension; their gradients are put together once.
std::vector<Tensor> steps_of(const Tensor& sequence, Site site);

}  // namespace tandem::ops
