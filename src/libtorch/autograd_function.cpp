#include "libtorch/autograd_function.h"

namespace torch::autograd {

variable_list AutogradContext::get_saved_variables() const { return saved(); }

void AutogradContext::mark_dirty(const variable_list& inputs) {
  for (const Tensor& input : inputs) {
    if (input.is_leaf() && input.requires_grad())
      tandem::fail("[mark_dirty] a leaf Variable that requires grad is being used in an in-place operation: clone() it before");
    input.impl().bump_version();
  }
  dirty_ = inputs;
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) { constant_ = outputs; }

void AutogradContext::set_materialize_grads(bool value) { materialize_ = value; }

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [first, last] : ranges)
    for (size_t i = first; i < last; ++i)
      if (needs_input_grad(i)) return true;
  return false;
}

void AutogradContext::take(variable_list& inputs, const Tensor& tensor) {
  inputs.push_back(tensor);
  is_tensor_.push_back(true);
}

void AutogradContext::take(variable_list& inputs, const std::optional<Tensor>& tensor) { take(inputs, tensor.value_or(Tensor())); }

void AutogradContext::take(variable_list& inputs, const variable_list& tensors) {
  for (const Tensor& tensor : tensors) take(inputs, tensor);
}

void AutogradContext::take(variable_list& inputs, const ArrayRef<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) take(inputs, tensor);
}

variable_list AutogradContext::note(const variable_list& outputs) {
  variable_list differentiable;
  for (const Tensor& output : outputs) {
    const bool has_gradient = output.defined() && tandem::is_floating(output.dtype()) && !is_among(output, constant_);
    results_.push_back(output.defined() ? Result{has_gradient, output.sizes(), output.options()} : Result{false, {}, {}});
    if (has_gradient) differentiable.push_back(output);
  }
  constant_.clear();
  return differentiable;
}

variable_list AutogradContext::merge(variable_list outputs, const variable_list& recorded) {
  for (size_t i = 0, next = 0; i < outputs.size(); ++i) {
    if (results_[i].differentiable) outputs[i] = in_place(outputs[i], recorded[next++]);
    else if (outputs[i].defined() && outputs[i].requires_grad()) outputs[i] = outputs[i].detach();
  }
  dirty_.clear();
  return outputs;
}

Tensor AutogradContext::in_place(const Tensor& output, const Tensor& recorded) const {
  if (!is_among(output, dirty_) || !recorded.grad_fn() || output.grad_fn() == recorded.grad_fn()) return recorded;
  if (output.is_view())
    tandem::fail("[mark_dirty] the input is a view of another tensor, whose history would have to change too: clone() it before");
  tandem::autograd::set_history(output, recorded.grad_fn(), static_cast<uint32_t>(recorded.output_nr()));
  return output;
}

variable_list AutogradContext::spread(const variable_list& gradients) const {
  variable_list all;
  size_t next = 0;
  for (const Result& result : results_) {
    Tensor gradient = result.differentiable ? gradients[next++] : Tensor();
    if (!gradient.defined() && materialize_ && result.options.dtype) gradient = tandem::zeros(result.sizes, result.options);
    all.push_back(std::move(gradient));
  }
  return all;
}

variable_list AutogradContext::gather(const char* name, variable_list computed) const {
  while (computed.size() > is_tensor_.size() && !computed.back().defined()) computed.pop_back();
  if (computed.size() != is_tensor_.size())
    tandem::fail("Function ", name, " returned an incorrect number of gradients (expected ", is_tensor_.size(), ", got ", computed.size(),
                 "): backward returns one for each argument of forward, Tensor() for those that are no tensors");
  variable_list gradients;
  for (size_t i = 0; i < computed.size(); ++i) {
    if (is_tensor_[i]) gradients.push_back(std::move(computed[i]));
    else if (computed[i].defined())
      tandem::fail("Function ", name, " returned a gradient at position ", i,
                   ", but that argument of forward is no tensor: return Tensor() there");
  }
  return gradients;
}

bool AutogradContext::is_among(const Tensor& tensor, const variable_list& others) {
  for (const Tensor& other : others)
    if (tensor.is_same(other)) return true;
  return false;
}

}  // namespace torch::autograd
