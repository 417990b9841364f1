// Recurrent layers by one kernel and one node for the whole sequence. For the library.
#pragma once

#include "ops/recurrent/recurrent_cells.h"

namespace tandem::ops {

/// Whether `recurrent_layers` takes these: floating tensors of one dtype and device with the sizes that belong together, none of them
/// empty, and no projections. What it does not take, `recurrent_steps` does, or says what is wrong with it.
[[nodiscard]] bool suits_recurrent_layers(RecurrentKind kind, const Tensor& input, const std::vector<Tensor>& hx,
                                          const std::vector<Tensor>& params, bool has_biases, int64_t num_layers, bool bidirectional);

/// What `recurrent` computes of an input (T, N, input), without dropout. A gradient that is to be differentiated again is computed step by
/// step.
LstmResult recurrent_layers(const char* op, RecurrentKind kind, const Tensor& input, const std::vector<Tensor>& hx,
                            const std::vector<Tensor>& params, bool has_biases, int64_t num_layers, bool bidirectional, Site site);

}  // namespace tandem::ops
