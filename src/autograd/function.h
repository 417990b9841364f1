// A differentiable function of one's own: forward and backward as static functions of a struct.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autograd/autograd.h"
#include "base/error.h"

namespace tandem::autograd {

/// What forward leaves for backward.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// Keeps tensors for backward, with the version they have now.
  void save_for_backward(std::vector<Tensor> tensors);
  /// The saved tensors. Error where one was changed in place since, or where the graph was walked already.
  [[nodiscard]] std::vector<Tensor> saved() const;
  /// Keeps what is no tensor, such as a number or a size. A second one of that name takes the place of the first.
  template <class T>
  void save_value(std::string name, T value) {
    values_.insert_or_assign(std::move(name), std::any(std::move(value)));
  }
  /// What was kept under that name. Error where there is nothing, and where it is of another type.
  template <class T>
  [[nodiscard]] const T& value(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) fail("[Context] no value was saved as '", name, "': call context.save_value(\"", name, "\", …) in forward");
    const T* value = std::any_cast<T>(&found->second);
    if (value == nullptr)
      fail("[Context] the value '", name, "' was saved as another type: ask for exactly the type that save_value was given");
    return *value;
  }
  /// For each tensor argument of forward: whether its gradient is wanted.
  [[nodiscard]] bool needs_input_grad(size_t i) const { return i < needs_.size() && needs_[i]; }

 private:
  friend struct CustomNode;
  struct Saved;
  std::unique_ptr<Saved> saved_;
  std::vector<bool> needs_;
  std::map<std::string, std::any> values_;
};

namespace detail {
using BackwardFunction = std::vector<Tensor> (*)(Context&, const std::vector<Tensor>&);
std::vector<Tensor> record_custom(const char* name, std::shared_ptr<Context> context, const std::vector<Tensor>& inputs,
                                  std::vector<Tensor> outputs, BackwardFunction backward, Site site);
void set_needs(Context& context, const std::vector<Tensor>& inputs);
/// In this scope the user's code runs, and keeps its own lines.
class UsersCode {
 public:
  UsersCode();
  ~UsersCode();
  UsersCode(const UsersCode&) = delete;
  UsersCode& operator=(const UsersCode&) = delete;

 private:
  const Site* before_;
};
/// "SquareBackward", of what the compiler calls a function that knows the struct as its F.
std::string backward_name(std::string_view pretty_function);
inline void collect(std::vector<Tensor>& into, const Tensor& tensor) { into.push_back(tensor); }
inline void collect(std::vector<Tensor>& into, const std::vector<Tensor>& tensors) {
  into.insert(into.end(), tensors.begin(), tensors.end());
}
template <class T>
void collect(std::vector<Tensor>&, const T&) {}
}  // namespace detail

/// Base of one's own function `F`: `static Tensor forward(Context&, args…)` (or a vector of tensors) and
/// `static std::vector<Tensor> backward(Context&, const std::vector<Tensor>& grads)`, which returns a gradient for each tensor among the
/// arguments (those in vectors too), in order; undefined ones where none is wanted. A gradient is summed to the tensor's sizes and
/// converted to its dtype; error where the sizes do not allow that, on another device, and where there are too few or too many.
template <class F>
struct Function {
  /// Calls forward without recording, and records backward.
  template <class... Args>
  static auto apply(const Args&... args) {
    std::vector<Tensor> inputs;
    (detail::collect(inputs, args), ...);
    auto context = std::make_shared<Context>();
    detail::set_needs(*context, inputs);
    auto run = [&] {
      NoGradGuard no_grad;
      return F::forward(*context, args...);
    };
    const auto backward = [](Context& own, const std::vector<Tensor>& grads) -> std::vector<Tensor> {
      const detail::UsersCode here;
      return F::backward(own, grads);
    };
    auto outputs = run();
    if constexpr (std::is_same_v<decltype(outputs), Tensor>)
      return detail::record_custom(name(), std::move(context), inputs, {outputs}, backward, Site::of_call())[0];
    else return detail::record_custom(name(), std::move(context), inputs, std::move(outputs), backward, Site::of_call());
  }

 private:
  static const char* name() {
    static const std::string name = detail::backward_name(__PRETTY_FUNCTION__);
    return name.c_str();
  }
};

}  // namespace tandem::autograd
