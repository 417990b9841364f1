// torch::autograd::Function: a differentiable function of one's own, by static functions `forward` and `backward` that get a context.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "autograd/function.h"
#include "autograd/history.h"
#include "libtorch/serialize_value.h"
#include "libtorch/types.h"
#include "ops/creation.h"

namespace torch::autograd {

using Variable = Tensor;
using variable_list = std::vector<Variable>;
using tensor_list = std::vector<Tensor>;
/// A range of inputs, the last one not in it.
using IndexRange = std::pair<size_t, size_t>;

/// What forward leaves for backward.
class AutogradContext : public tandem::autograd::Context {
 public:
  /// Numbers, texts, tensors and lists of them, by name.
  std::unordered_map<std::string, IValue> saved_data;

  /// The tensors of save_for_backward. Error where one was changed in place since, or where the graph was walked already.
  [[nodiscard]] variable_list get_saved_variables() const { return saved(); }
  /// forward changed these inputs in place, and returns them: their history is this function from then on. Error for leaves that require a
  /// gradient, whose values the gradient is for.
  void mark_dirty(const variable_list& inputs) {
    for (const Tensor& input : inputs) {
      if (input.is_leaf() && input.requires_grad())
        tandem::fail("[mark_dirty] a leaf Variable that requires grad is being used in an in-place operation: clone() it before");
      input.impl().bump_version();
    }
    dirty_ = inputs;
  }
  /// These results have no gradient.
  void mark_non_differentiable(const variable_list& outputs) { constant_ = outputs; }
  /// With false, a gradient that nothing came for is an undefined tensor in backward, and not zeros.
  void set_materialize_grads(bool value) { materialize_ = value; }
  using Context::needs_input_grad;
  /// Whether the gradient of an input in one of the ranges is wanted.
  [[nodiscard]] bool needs_input_grad(std::initializer_list<IndexRange> ranges) const {
    for (const auto& [first, last] : ranges)
      for (size_t i = first; i < last; ++i)
        if (needs_input_grad(i)) return true;
    return false;
  }

 private:
  template <class F>
  friend struct Function;

  // Like what the zeros are that stand for the gradient of a result.
  struct Result {
    bool differentiable;
    tandem::Shape sizes;
    tandem::Options options;
  };

  // An argument of forward is a tensor, a list of them, or anything else.
  void take(variable_list& inputs, const Tensor& tensor) {
    inputs.push_back(tensor);
    is_tensor_.push_back(true);
  }
  void take(variable_list& inputs, const std::optional<Tensor>& tensor) { take(inputs, tensor.value_or(Tensor())); }
  void take(variable_list& inputs, const variable_list& tensors) {
    for (const Tensor& tensor : tensors) take(inputs, tensor);
  }
  void take(variable_list& inputs, const ArrayRef<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) take(inputs, tensor);
  }
  template <class T>
  requires(!std::is_convertible_v<const T&, Tensor>) void take(variable_list&, const T&) { is_tensor_.push_back(false); }

  // The results that have a gradient; all are noted.
  [[nodiscard]] variable_list note(const variable_list& outputs) {
    variable_list differentiable;
    for (const Tensor& output : outputs) {
      const bool has_gradient = output.defined() && tandem::is_floating(output.dtype()) && !is_among(output, constant_);
      results_.push_back(output.defined() ? Result{has_gradient, output.sizes(), output.options()} : Result{false, {}, {}});
      if (has_gradient) differentiable.push_back(output);
    }
    constant_.clear();
    return differentiable;
  }
  // All results again, those with a gradient as recorded.
  [[nodiscard]] variable_list merge(variable_list outputs, const variable_list& recorded) {
    for (size_t i = 0, next = 0; i < outputs.size(); ++i) {
      if (results_[i].differentiable) outputs[i] = in_place(outputs[i], recorded[next++]);
      else if (outputs[i].defined() && outputs[i].requires_grad()) outputs[i] = outputs[i].detach();
    }
    dirty_.clear();
    return outputs;
  }
  // What was changed in place is the result itself, and has its history; other results are as recorded.
  [[nodiscard]] Tensor in_place(const Tensor& output, const Tensor& recorded) const {
    if (!is_among(output, dirty_) || !recorded.grad_fn() || output.grad_fn() == recorded.grad_fn()) return recorded;
    if (output.is_view())
      tandem::fail("[mark_dirty] the input is a view of another tensor, whose history would have to change too: clone() it before");
    tandem::autograd::set_history(output, recorded.grad_fn(), static_cast<uint32_t>(recorded.output_nr()));
    return output;
  }
  // A gradient for each result.
  [[nodiscard]] variable_list spread(const variable_list& gradients) const {
    variable_list all;
    size_t next = 0;
    for (const Result& result : results_) {
      Tensor gradient = result.differentiable ? gradients[next++] : Tensor();
      if (!gradient.defined() && materialize_ && result.options.dtype) gradient = tandem::zeros(result.sizes, result.options);
      all.push_back(std::move(gradient));
    }
    return all;
  }
  // From a gradient for each argument to one for each tensor among them.
  [[nodiscard]] variable_list gather(const char* name, variable_list computed) const {
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
  static bool is_among(const Tensor& tensor, const variable_list& others) {
    for (const Tensor& other : others)
      if (tensor.is_same(other)) return true;
    return false;
  }

  std::vector<bool> is_tensor_;  // for each argument of forward; each tensor of a list is one
  std::vector<Result> results_;
  variable_list constant_, dirty_;
  bool materialize_ = true;
};

/// Base of one's own function F: `static Tensor forward(AutogradContext*, args…)`, or a variable_list, and
/// `static variable_list backward(AutogradContext*, variable_list gradients)`, which gives one gradient for each argument of forward.
template <class F>
struct Function {
  /// Calls forward without recording, and records backward.
  template <class X = F, class... Args>
  static auto apply(Args&&... args) {
    auto context = std::make_shared<AutogradContext>();
    variable_list inputs;
    (context->take(inputs, args), ...);
    tandem::autograd::detail::set_needs(*context, inputs);
    auto outputs = forward<X>(context.get(), std::forward<Args>(args)...);
    if constexpr (std::is_same_v<decltype(outputs), Tensor>) return record(std::move(context), inputs, {outputs})[0];
    else return record(std::move(context), inputs, std::move(outputs));
  }

 private:
  template <class X, class... Args>
  static auto forward(AutogradContext* context, Args&&... args) {
    const tandem::NoGradGuard no_grad;
    return X::forward(context, std::forward<Args>(args)...);
  }
  static variable_list record(std::shared_ptr<AutogradContext> context, const variable_list& inputs, variable_list outputs) {
    AutogradContext& own = *context;
    const variable_list differentiable = own.note(outputs);
    if (differentiable.empty()) return own.merge(std::move(outputs), {});
    return own.merge(std::move(outputs), tandem::autograd::detail::record_custom(name(), std::move(context), inputs, differentiable,
                                                                                 run_backward, tandem::Site::of_call()));
  }
  static variable_list run_backward(tandem::autograd::Context& context, const variable_list& gradients) {
    const tandem::autograd::detail::UsersCode here;
    auto& own = static_cast<AutogradContext&>(context);
    return own.gather(name(), F::backward(&own, own.spread(gradients)));
  }
  static const char* name() {
    static const std::string name = tandem::autograd::detail::backward_name(__PRETTY_FUNCTION__);
    return name.c_str();
  }
};

}  // namespace torch::autograd
