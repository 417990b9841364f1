// Joining results to the graph: who needs a gradient, edges to inputs, the node of a result, and what in-place changes do to histories.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include "autograd/autograd.h"
#include "autograd/node.h"
#include "autograd/recording.h"
#include "autograd/saved.h"
#include "tensor/tensor.h"

namespace tandem::autograd {

/// Whether operations on these tensors are to be recorded now. What was made in inference mode is no reason by itself.
inline bool needs_grad(const Tensor& x) { return detail::grad_enabled && x.defined() && x.impl().needs_grad() && !x.impl().inference; }
template <class... Tensors>
inline bool needs_grad(const Tensor& x, const Tensors&... others) {
  return needs_grad(x) || needs_grad(others...);
}

/// Where the gradient of `x` goes.
Edge edge_of(const Tensor& x);

/// Makes `node` the history of a result. A gradient that the tensor retains is the new history's from then on.
void set_history(const Tensor& result, Ref<Node> node, uint32_t output_nr = 0);
/// The tensor, whose history a composition has just made, by the name of the composition.
Tensor called(Tensor result, const char* name);
/// Makes `node` the history of a tensor that was changed in place; a view's change reaches the tensor it is a view of, and its other views.
void set_history_in_place(const Tensor& changed, Ref<Node> node);
/// Error where changing `x` in place is not allowed while recording: leaves that require gradients, and views of them; and, where the
/// change would be recorded (x or an operand requires a gradient), views whose base would not learn of it. Outside of inference mode, also
/// for what was made in it.
void check_in_place(const char* op, const Tensor& x, bool operand_requires_grad = false);

/// Which inputs' gradients a backward function has to compute.
struct Wanted {
  const Node* node;
  bool operator[](size_t input) const { return node->wants(input); }
};

/// The node of an operation with one output: backward is a function of (gradient), (gradient, Wanted) or (gradient, Wanted, const Node*),
/// which gives a Tensor or an std::array of them.
template <size_t N, class F>
class FunctionNode final : public Node {
 public:
  FunctionNode(const char* name, Site site, F&& function)
      : Node(name, site, 1, edges_, N), moves_before_(detail::saved_moves), function_(std::move(function)) {
    saves_ = detail::saved_moves != moves_before_;
  }
  ~FunctionNode() override {
    if (!released_) function_.~F();
  }
  std::span<Edge, N> edges() { return edges_; }

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override;
  bool relu_follows() override {
    if constexpr (requires { function_.relu_follows(); }) return function_.relu_follows();
    else return false;
  }
  void forget_saved() override {
    if (!saves_ || released_) return;  // where nothing is saved, the graph may be walked again
    function_.~F();
    released_ = true;
  }

 private:
  Edge edges_[N];
  uint32_t moves_before_;
  union {
    F function_;
  };
  bool saves_ = false, released_ = false;
};

/// "Trying to backward through the graph a second time …".
[[noreturn]] void fail_released(const Node& node);

template <size_t N, class F>
void FunctionNode<N, F>::backward(std::span<Tensor> gradients, std::span<Tensor> results) {
  if (released_) fail_released(*this);
  const auto call = [&] {
    if constexpr (std::is_invocable_v<F&, const Tensor&, Wanted, const Node*>) return function_(gradients[0], Wanted{this}, this);
    else if constexpr (std::is_invocable_v<F&, const Tensor&, Wanted>) return function_(gradients[0], Wanted{this});
    else return function_(gradients[0]);
  };
  if constexpr (N == 1 && std::is_same_v<decltype(call()), Tensor>) {
    results[0] = call();
  } else {
    auto all = call();
    for (size_t i = 0; i < N; ++i) results[i] = std::move(all[i]);
  }
}

/// Records `backward` as the history of `result`, where one of the inputs needs a gradient: `record("MmBackward0", y, {a, b}, site,
/// [...](const Tensor& g) …)`.
template <size_t N, class F>
Tensor record(const char* name, Tensor result, const std::reference_wrapper<const Tensor> (&inputs)[N], Site site, F backward) {
  bool any = false;
  for (const auto& input : inputs) any |= needs_grad(input.get());
  if (!any) return result;
  auto* node = new FunctionNode<N, F>(name, site, std::move(backward));
  Ref<Node> held(node);
  for (size_t i = 0; i < N; ++i) node->edges()[i] = edge_of(inputs[i].get());
  set_history(result, std::move(held));
  return result;
}

/// The same for a tensor that the operation changed in place. Call it after the change; edges are taken from the histories before it.
template <size_t N, class F>
void record_in_place(const char* name, const Tensor& changed, const std::reference_wrapper<const Tensor> (&inputs)[N], Site site,
                     F backward) {
  auto* node = new FunctionNode<N, F>(name, site, std::move(backward));
  Ref<Node> held(node);
  for (size_t i = 0; i < N; ++i) node->edges()[i] = edge_of(inputs[i].get());
  set_history_in_place(changed, std::move(held));
}

}  // namespace tandem::autograd
