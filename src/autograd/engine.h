// Walking the graph backwards: iteratively, on the calling thread for all devices, in an order that the graph alone decides.
#pragma once

#include <vector>

#include "autograd/node.h"
#include "tensor/tensor.h"

namespace tandem::autograd {

/// One walk. `targets` empty: gradients are added to all leaves' `.grad`; else the gradients with respect to the targets are returned,
/// undefined where the outputs do not depend on them.
std::vector<Tensor> run_backward(const std::vector<Edge>& roots, std::vector<Tensor> gradients, const std::vector<Edge>& targets,
                                 bool retain_graph, bool create_graph);

/// Adds `gradient` to the sum so far: moved where it is the first, in place where nothing else holds the sum.
void accumulate(Tensor& sum, Tensor gradient, bool create_graph);

}  // namespace tandem::autograd
