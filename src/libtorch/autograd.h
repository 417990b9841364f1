// torch::autograd: gradients of results, and switching recording off and on.
#pragma once

#include <cstdint>
#include <new>
#include <ostream>

#include "autograd/anomaly.h"
#include "autograd/autograd.h"
#include "libtorch/autograd_function.h"
#include "libtorch/types.h"

namespace tandem {
/// The address, as of a pointer: `std::cout << y.grad_fn()`.
std::ostream& operator<<(std::ostream& out, const Ref<autograd::Node>& node);
}  // namespace tandem

namespace torch::autograd {

using tandem::autograd::backward;
using tandem::autograd::is_anomaly_enabled;
using tandem::autograd::set_detect_anomaly;
using DetectAnomalyGuard = tandem::autograd::DetectAnomaly;

/// Gradients of `outputs`, each weighted with its gradient, with respect to `inputs`. Adds to no `.grad`. retain_graph is as create_graph
/// unless given. Error for an input that no output comes from, unless allow_unused: its gradient is undefined then.
[[nodiscard]] variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs,
                                 std::optional<bool> retain_graph, bool create_graph = false, bool allow_unused = false,
                                 tandem::Site site = tandem::Site::here());
[[nodiscard]] variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs,
                                 tandem::Site site = tandem::Site::here());
[[nodiscard]] variable_list grad(const variable_list& outputs, const variable_list& inputs, std::initializer_list<Tensor> grad_outputs,
                                 tandem::Site site = tandem::Site::here());
using tandem::grad;

/// Adds the gradients of `outputs` to the `.grad` of all leaves, or of `inputs` alone.
void backward(const variable_list& outputs, const variable_list& gradients, std::optional<bool> retain_graph, bool create_graph,
              const variable_list& inputs = {}, tandem::Site site = tandem::Site::here());
inline void backward(const variable_list& outputs, const variable_list& gradients, std::same_as<bool> auto retain_graph,
                     tandem::Site site = tandem::Site::here()) {
  tandem::autograd::backward(outputs, gradients, tandem::BackwardOptions{.retain_graph = retain_graph}, site);
}

/// How a view was made: whether an in-place change of it can reach the history of what it is a view of.
enum class CreationMeta : uint8_t { DEFAULT, IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, NO_GRAD_MODE, INFERENCE_MODE };
/// Whether the library knows a view as one that was made so.
[[nodiscard]] bool operator==(tandem::ViewOrigin origin, CreationMeta meta);
/// What a tensor knows of its history: has_bw_view, get_creation_meta.
using AutogradMeta = tandem::TensorImpl;
using DifferentiableViewMeta = tandem::TensorImpl;

/// A tensor of these values without history.
[[nodiscard]] Variable make_variable(const Tensor& data, bool requires_grad = false, bool /*allow_change*/ = true);

}  // namespace torch::autograd

namespace torch {

using autograd::make_variable;
using tandem::NoGradGuard;
/// Recording switched on or off until the end of the scope.
using AutoGradMode = tandem::SetGradGuard;

/// Whether the calling thread records operations.
struct GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

using tandem::InferenceMode;

}  // namespace torch

namespace torch::autograd {
using torch::AutoGradMode;
using torch::GradMode;
using torch::InferenceMode;
}  // namespace torch::autograd
