// A function or module whose forward and backward are graphs: each call costs two launches, whatever it computes. As
// torch.cuda.make_graphed_callables.
//
//   auto fast = td::cuda::make_graphed(model, {sample});
//   auto loss = td::cross_entropy(fast(batch), target);
//   loss.backward();
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/graph.h"
#include "tensor/tensor.h"

namespace tandem::cuda {

struct GraphedOptions {
  int num_warmup_iters = 3;         // passes before the capture, on a side stream
  bool allow_unused_input = false;  // else an error where an output does not depend on an input or parameter that wants a gradient
  GraphPool pool = {};              // empty: one of its own
};

/// What make_graphed gives. A copy is the same graphs. Results share the graph's memory: the next call overwrites them, and a gradient that
/// needs them then is an error.
class Graphed {
 public:
  /// From the input to the output.
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  struct State;
  explicit Graphed(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// Error where an input differs from its sample in sizes, dtype or device, or wants a gradient where the sample did not.
  [[nodiscard]] std::vector<Tensor> operator()(const std::vector<Tensor>& inputs, Site site = Site::here()) const;
  /// Of one tensor; error where there are more results than one.
  [[nodiscard]] Tensor operator()(const Tensor& input, Site site = Site::here()) const;

 private:
  std::shared_ptr<State> state_;
};

namespace detail {
/// `current` gives the tensors that the function reads beside its arguments, as they are now: a call or a backward for which those are
/// others than at the capture, or lie elsewhere, is an error. Empty where they are gone.
[[nodiscard]] Graphed make_graphed(const Graphed::Function& function, const std::vector<Tensor>& samples,
                                   const std::vector<Tensor>& parameters, std::function<std::vector<Tensor>()> current,
                                   const GraphedOptions& options, Site site);
}  // namespace detail

/// Captures `function` and, where a sample or parameter requires a gradient, its backward. `parameters` are the tensors beside its
/// arguments that may; they must stay where they are, and a call is an error where they have not. Every random number and step inside is
/// new in each call; what depends on values on the host is as it was for the samples.
[[nodiscard]] inline Graphed make_graphed(const Graphed::Function& function, const std::vector<Tensor>& samples,
                                          const std::vector<Tensor>& parameters = {}, const GraphedOptions& options = {},
                                          Site site = Site::here()) {
  return detail::make_graphed(
      function, samples, parameters, [parameters] { return parameters; }, options, site);
}

/// Captures a module as it is now: training or evaluating. Its parameters and buffers must stay where they are, and a call is an error
/// where they have not; their values may change.
template <class Module, size_t N>
requires requires(Module& module) {
  module.parameters();
  module.buffers();
  module.watch();
}
[[nodiscard]] Graphed make_graphed(Module& module, const Tensor (&samples)[N], const GraphedOptions& options = {},
                                   Site site = Site::here()) {
  const auto run = [&module]<size_t... i>(const std::vector<Tensor>& inputs, std::index_sequence<i...>)->std::vector<Tensor> {
    auto result = module(inputs[i]...);
    if constexpr (std::is_same_v<decltype(result), Tensor>) return {std::move(result)};
    else return result;
  };
  const auto current = [&module, alive = module.watch()] {
    if (alive.expired()) return std::vector<Tensor>();
    std::vector<Tensor> tensors = module.parameters(), buffers = module.buffers();
    tensors.insert(tensors.end(), buffers.begin(), buffers.end());
    return tensors;
  };
  return detail::make_graphed(
      Graphed::Function([run](const std::vector<Tensor>& inputs) { return run(inputs, std::make_index_sequence<N>()); }),
      std::vector<Tensor>(samples, samples + N), module.parameters(), current, options, site);
}

}  // namespace tandem::cuda
