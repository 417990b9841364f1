// Walking the graph backwards: iteratively, on the calling thread for all devices, in an order that the graph alone decides.
#pragma once

#include <vector>

#include "autograd/node.h"
#include "tensor/tensor.h"

namespace tandem::autograd {

/// One walk. `targets` empty: gradients are added to all leaves' `.grad`; else the gradients with respect to the targets are returned,
/// undefined where the outputs do not depend on them. Either is ready for the calling thread's current streams. `site` is the user's call.
std::vector<Tensor> run_backward(const std::vector<Edge>& roots, std::vector<Tensor> gradients, const std::vector<Edge>& targets,
                                 bool retain_graph, bool create_graph, Site site);

/// How many backwards are running on this thread: one, or more where a hook or a function runs another one; 0 outside.
[[nodiscard]] int backward_depth();

}  // namespace tandem::autograd
