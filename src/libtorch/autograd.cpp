#include "libtorch/autograd.h"

std::ostream& tandem::operator<<(std::ostream& out, const Ref<autograd::Node>& node) { return out << static_cast<const void*>(node.get()); }

namespace torch::autograd {

variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs,
                   std::optional<bool> retain_graph, bool create_graph, bool allow_unused, tandem::Site site) {
  return tandem::grad(
      outputs, inputs,
      {.grad_outputs = grad_outputs, .retain_graph = retain_graph, .create_graph = create_graph, .allow_unused = allow_unused}, site);
}

variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs, tandem::Site site) {
  return tandem::grad(outputs, inputs, {.grad_outputs = grad_outputs}, site);
}

variable_list grad(const variable_list& outputs, const variable_list& inputs, std::initializer_list<Tensor> grad_outputs,
                   tandem::Site site) {
  return tandem::grad(outputs, inputs, {.grad_outputs = grad_outputs}, site);
}

void backward(const variable_list& outputs, const variable_list& gradients, std::optional<bool> retain_graph, bool create_graph,
              const variable_list& inputs, tandem::Site site) {
  const tandem::BackwardOptions options{.retain_graph = retain_graph.value_or(create_graph), .create_graph = create_graph};
  if (inputs.empty()) tandem::autograd::backward(outputs, gradients, options, site);
  else tandem::autograd::backward(outputs, gradients, options, inputs, site);
}

bool operator==(tandem::ViewOrigin origin, CreationMeta meta) {
  switch (origin) {
    case tandem::ViewOrigin::Recorded: return meta == CreationMeta::DEFAULT;
    case tandem::ViewOrigin::NoGrad:
    case tandem::ViewOrigin::NoGradOfGraph: return meta == CreationMeta::NO_GRAD_MODE;
    case tandem::ViewOrigin::CustomFunction: return meta == CreationMeta::IN_CUSTOM_FUNCTION;
    case tandem::ViewOrigin::Inference:
    case tandem::ViewOrigin::InferenceOfGraph: return meta == CreationMeta::INFERENCE_MODE;
  }
  return false;
}

Variable make_variable(const Tensor& data, bool requires_grad, bool /*allow_change*/) {
  Variable variable = data.data();
  if (requires_grad) variable.requires_grad_(true);
  return variable;
}

}  // namespace torch::autograd

namespace torch {

bool GradMode::is_enabled() { return tandem::is_grad_enabled(); }

void GradMode::set_enabled(bool enabled) {
  alignas(tandem::SetGradGuard) std::byte place[sizeof(tandem::SetGradGuard)];
  ::new (place) tandem::SetGradGuard(enabled);  // never destroyed: what it has set stays
}

}  // namespace torch
