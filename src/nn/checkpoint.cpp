#include "nn/checkpoint.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "autograd/function.h"
#include "autograd/history.h"
#include "autograd/saved_hooks.h"
#include "base/error.h"
#include "nn/module.h"
#include "ops/autocast.h"
#include "ops/mersenne_twister.h"
#include "ops/random.h"

namespace tandem::nn {
namespace {

using Tensors = std::vector<Tensor>;

/// Where the generators of some devices stand.
class Generators {
 public:
  explicit Generators(const std::vector<Device>& devices) {
    for (const Device device : devices) states_.emplace_back(device, get_rng_state(device));
  }
  void put_back() const {
    for (const auto& [device, state] : states_) set_rng_state(state, device);
    set_mersenne_twister(twister_);
  }
  [[nodiscard]] std::vector<Device> devices() const {
    std::vector<Device> devices;
    for (const auto& [device, state] : states_) devices.push_back(device);
    return devices;
  }

 private:
  std::vector<std::pair<Device, GeneratorState>> states_;
  MersenneTwister twister_ = get_mersenne_twister();
};

/// A function that is called twice, and what is to be the same both times.
struct Segment {
  std::function<Tensors(const Tensors&)> function;
  size_t inputs;
  ops::AutocastState autocast;
  std::optional<Generators> generators;
  Tensors parameters = {};  // themselves: what hooks of saved tensors give back is not what the function uses
};

/// Random numbers go on from other states in this scope, and after it as if it had not been.
class RandomScope {
 public:
  explicit RandomScope(const std::optional<Generators>& generators) {
    if (!generators) return;
    before_.emplace(generators->devices());
    generators->put_back();
  }
  ~RandomScope() {
    if (before_) before_->put_back();
  }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  std::optional<Generators> before_;
};

/// The tensors as leaves of a graph of their own.
Tensors leaves_of(const Tensors& tensors) {
  Tensors leaves;
  for (const Tensor& tensor : tensors) {
    leaves.push_back(tensor.defined() ? tensor.detach() : tensor);
    if (tensor.defined() && tensor.requires_grad()) leaves.back().requires_grad_();
  }
  return leaves;
}

/// The leaves that backward would reach from `outputs`, without those in `own`.
Tensors parameters_behind(const Tensors& outputs, const Tensors& own) {
  Tensors found;
  std::unordered_set<const void*> seen;
  for (const Tensor& tensor : own)
    if (tensor.defined()) seen.insert(&tensor.impl());
  std::vector<autograd::Edge> edges;
  for (const Tensor& output : outputs)
    if (autograd::needs_grad(output)) edges.push_back(autograd::edge_of(output));
  while (!edges.empty()) {
    const autograd::Edge edge = std::move(edges.back());
    edges.pop_back();
    if (edge.leaf && seen.insert(edge.leaf.get()).second) found.push_back(Tensor(edge.leaf));
    if (!edge.node || !seen.insert(edge.node.get()).second) continue;
    for (const autograd::Edge& next : edge.node->edges())
      if (next) edges.push_back(next);
  }
  return found;
}

constexpr const char* kSegment = "segment";

Tensors backward(autograd::Context& context, const Tensors& gradients) {
  const autograd::detail::UsersCode here;
  const auto& segment = context.value<std::shared_ptr<Segment>>(kSegment);
  const Tensors saved = context.saved();
  const Tensors given(saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(segment->inputs));
  // Where the gradient's own gradient is wanted, the graph has to go on behind the inputs.
  const bool create_graph = is_grad_enabled();
  const Tensors inputs = create_graph ? given : leaves_of(given);
  Tensors outputs;
  {
    const EnableGradGuard record;
    const ops::AutocastScope as_in_forward(segment->autocast);
    const RandomScope random(segment->generators);
    outputs = segment->function(inputs);
  }
  if (outputs.size() != gradients.size())
    fail("[checkpoint] the function gave ", gradients.size(), " tensors at first and ", outputs.size(),
         " when it was called again: it must do the same both times");
  Tensors all = inputs, wanted, reached, weights;
  all.insert(all.end(), segment->parameters.begin(), segment->parameters.end());
  std::copy_if(all.begin(), all.end(), std::back_inserter(wanted), [](const Tensor& x) { return x.defined() && x.requires_grad(); });
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!gradients[i].defined() || !outputs[i].requires_grad()) continue;
    reached.push_back(outputs[i]);
    weights.push_back(gradients[i]);
  }
  Tensors results(all.size());
  if (reached.empty() || wanted.empty()) return results;
  Tensors computed = grad(reached, wanted, {.grad_outputs = weights, .create_graph = create_graph, .allow_unused = true});
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].defined() && all[i].requires_grad()) results[i] = std::move(computed[next++]);
  return results;
}

}  // namespace

Tensors checkpoint(std::function<Tensors(const Tensors&)> function, const Tensors& inputs, const CheckpointOptions& options, Site site) {
  if (!function) fail("[checkpoint] needs a function of the inputs");
  if (!is_grad_enabled()) return function(inputs);
  auto segment = std::make_shared<Segment>(Segment{std::move(function), inputs.size(), ops::autocast_state(), std::nullopt});
  if (options.preserve_rng_state) {
    std::vector<Device> devices{cpu()};
    for (const Tensor& input : inputs)
      if (input.defined() && std::find(devices.begin(), devices.end(), input.device()) == devices.end()) devices.push_back(input.device());
    segment->generators.emplace(devices);
  }
  // The graph of this run tells which parameters are used, and ends with this scope.
  const Tensors leaves = leaves_of(inputs);
  Tensors outputs, used = inputs;
  {
    const autograd::SavedTensorsHooks none(nullptr);  // what is kept in it is dropped at once
    outputs = segment->function(leaves);
  }
  segment->parameters = parameters_behind(outputs, leaves);
  used.insert(used.end(), segment->parameters.begin(), segment->parameters.end());
  for (Tensor& output : outputs)
    if (output.defined()) output = output.detach();
  auto context = std::make_shared<autograd::Context>();
  context->save_for_backward(used);
  context->save_value(kSegment, std::move(segment));
  return autograd::detail::record_custom("CheckpointBackward", std::move(context), used, std::move(outputs), backward, site);
}

Tensor checkpoint(Module& module, const Tensor& x, const CheckpointOptions& options, Site site) {
  return checkpoint([&module](const Tensors& given) { return Tensors{module(given[0])}; }, {x}, options, site)[0];
}

Tensor checkpoint_sequential(Sequential& net, int64_t segments, const Tensor& x, const CheckpointOptions& options, Site site) {
  const auto layers = static_cast<int64_t>(net.size());
  if (segments < 1 || segments > layers)
    fail("[checkpoint_sequential] segments must be from 1 to the number of layers, ", layers, ", not ", segments);
  const int64_t each = layers / segments;
  const auto part = [&net](int64_t begin, int64_t end) {
    return [&net, begin, end](const Tensors& given) {
      Tensor y = given[0];
      for (int64_t i = begin; i < end; ++i) y = net.at(i, Site::none())(y);
      return Tensors{y};
    };
  };
  Tensor y = x;
  for (int64_t i = 0; i + 1 < segments; ++i) y = checkpoint(part(i * each, (i + 1) * each), {y}, options, site)[0];
  return part((segments - 1) * each, layers)({y})[0];
}

}  // namespace tandem::nn
