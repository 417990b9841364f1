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
  [[nodiscard]] variable_list get_saved_variables() const;
  /// forward changed these inputs in place, and returns them: their history is this function from then on. Error for leaves that require a
  /// gradient, whose values the gradient is for.
  void mark_dirty(const variable_list& inputs);
  /// These results have no gradient.
  void mark_non_differentiable(const variable_list& outputs);
  /// With false, a gradient that nothing came for is an undefined tensor in backward, and not zeros.
  void set_materialize_grads(bool value);
  using Context::needs_input_grad;
  /// Whether the gradient of an input in one of the ranges is wanted.
  [[nodiscard]] bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

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
  void take(variable_list& inputs, const Tensor& tensor);
  void take(variable_list& inputs, const std::optional<Tensor>& tensor);
  void take(variable_list& inputs, const variable_list& tensors);
  void take(variable_list& inputs, const ArrayRef<Tensor>& tensors);
  template <class T>
  requires(!std::is_convertible_v<const T&, Tensor>) void take(variable_list&, const T&) { is_tensor_.push_back(false); }

  // The results that have a gradient; all are noted.
  [[nodiscard]] variable_list note(const variable_list& outputs);
  // All results again, those with a gradient as recorded.
  [[nodiscard]] variable_list merge(variable_list outputs, const variable_list& recorded);
  // What was changed in place is the result itself, and has its history; other results are as recorded.
  [[nodiscard]] Tensor in_place(const Tensor& output, const Tensor& recorded) const;
  // A gradient for each result.
  [[nodiscard]] variable_list spread(const variable_list& gradients) const;
  // From a gradient for each argument to one for each tensor among them.
  [[nodiscard]] variable_list gather(const char* name, variable_list computed) const;
  static bool is_among(const Tensor& tensor, const variable_list& others);

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
