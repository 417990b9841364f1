#include "autograd/graphed.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/join.h"

namespace tandem::cuda {
namespace {

constexpr const char* kOp = "make_graphed";

/// The tensors that the graphs read beside their inputs, and where they lay at the capture: addresses in a graph do not follow.
class Surroundings {
 public:
  Surroundings() = default;
  explicit Surroundings(std::function<std::vector<Tensor>()> current) : current_(std::move(current)), held_(current_()) {
    for (const Tensor& tensor : held_) places_.push_back(tensor.impl().data);
  }
  /// Error where they are elsewhere now.
  void check() const {
    const std::vector<Tensor> now = current_();
    if (now.empty()) return;
    for (size_t i = 0; i < std::max(now.size(), places_.size()); ++i)
      if (i >= now.size() || i >= places_.size() || !now[i].is_same(held_[i]) || now[i].impl().data != places_[i])
        fail('[', kOp, "] the graph was captured with other tensors: ",
             i < places_.size() ? str("parameter or buffer ", i, " of sizes ", held_[i].sizes()) : std::string("a parameter or buffer"),
             " was assigned or given other memory since, as by to(). Change values in place, with copy_() or load_state_dict(), or capture "
             "another graph");
  }

 private:
  std::function<std::vector<Tensor>()> current_;
  std::vector<Tensor> held_;
  std::vector<const void*> places_;
};

}  // namespace

/// Two graphs and the tensors that they read and write.
struct Graphed::State {
  Surroundings surroundings;
  std::vector<Tensor> inputs, parameters, outputs;  // of the graph
  std::vector<Tensor> output_gradients;             // undefined for outputs without
  std::vector<Tensor> gradients;                    // of inputs, then parameters; undefined where none is wanted or there is none
  Tensor all_gradients;                             // those in one row, where they have one dtype: a single copy takes them out
  std::vector<bool> wants;                          // whether they are wanted
  Graph forward, backward;
};

namespace {

/// Backward of one call.
struct GraphedNode final : autograd::Node {
  GraphedNode(Site site, std::vector<autograd::Edge> to, std::shared_ptr<Graphed::State> of)
      : Node("GraphedBackward", site, static_cast<uint32_t>(of->outputs.size()), to.data(), static_cast<uint32_t>(to.size())),
        edges(std::move(to)),
        state(std::move(of)),
        version(state->outputs.front().impl().storage->changes()) {}

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    if (is_grad_enabled()) fail('[', kOp, "] a graph has no gradient of its gradient: call the function itself with create_graph");
    if (!state) autograd::fail_released(*this);
    state->surroundings.check();
    if (state->outputs.front().impl().storage->changes() != version)
      fail('[', kOp, "] backward of a call that is not the last, or whose results were changed in place: what it computed is overwritten");
    for (size_t i = 0; i < gradients.size(); ++i) {
      const Tensor& to = state->output_gradients[i];
      if (!to.defined()) continue;
      if (gradients[i].defined()) to.copy_(gradients[i], true, site());
      else to.zero_(site());
    }
    state->backward.replay(site());
    // The engine may keep what it is given as a leaf's gradient: not the graph's own memory.
    const Tensor all = state->all_gradients.defined() ? state->all_gradients.clone(site()) : Tensor();
    int64_t start = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor& gradient = state->gradients[i];
      if (!gradient.defined()) continue;
      if (wants(i))
        results[i] = all.defined() ? all.narrow(0, start, gradient.numel(), site()).view(gradient.sizes(), site()) : gradient.clone(site());
      start += gradient.numel();
    }
  }
  void forget_saved() override { state.reset(); }

  std::vector<autograd::Edge> edges;
  std::shared_ptr<Graphed::State> state;
  uint32_t version;
};

/// Gradients of the outputs that have any, for the inputs and parameters that want one.
std::vector<Tensor> gradients_of(const Graphed::State& state, const std::vector<Tensor>& outputs, bool allow_unused, Site site) {
  std::vector<Tensor> from, with, to;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    from.push_back(outputs[i]);
    with.push_back(state.output_gradients[i]);
  }
  for (size_t i = 0; i < state.wants.size(); ++i)
    if (state.wants[i]) to.push_back(i < state.inputs.size() ? state.inputs[i] : state.parameters[i - state.inputs.size()]);
  if (from.empty() || to.empty()) return std::vector<Tensor>(state.wants.size());
  std::vector<Tensor> found = grad(from, to, {.grad_outputs = with, .allow_unused = allow_unused}, site), all;
  size_t next = 0;
  for (const bool wanted : state.wants) all.push_back(wanted ? found[next++] : Tensor());
  return all;
}

/// The gradients one after another; undefined where their dtypes differ.
Tensor in_one_row(const std::vector<Tensor>& gradients, Site site) {
  const NoGradGuard quiet;
  std::vector<Tensor> rows;
  for (const Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    if (!rows.empty() && rows.front().dtype() != gradient.dtype()) return {};
    rows.push_back(gradient.reshape({-1}, site));
  }
  return rows.empty() ? Tensor() : cat(rows, 0, site);
}

void check_input(size_t i, const Tensor& given, const Tensor& sample) {
  if (!given.defined()) fail('[', kOp, "] input ", i, " is undefined");
  if (!(given.sizes() == sample.sizes()) || given.dtype() != sample.dtype() || given.device() != sample.device())
    fail('[', kOp, "] input ", i, " has sizes ", given.sizes(), ", dtype ", given.dtype(), " on ", given.device(),
         ", but the graph was captured with ", sample.sizes(), ", ", sample.dtype(), " on ", sample.device(),
         ": pad the batch, or capture another graph");
  if (autograd::needs_grad(given) && !sample.requires_grad())
    fail('[', kOp, "] input ", i, " requires a gradient, but its sample did not: capture with a sample that does");
}

}  // namespace

Graphed detail::make_graphed(const Graphed::Function& function, const std::vector<Tensor>& samples, const std::vector<Tensor>& parameters,
                             std::function<std::vector<Tensor>()> current, const GraphedOptions& options, Site site) {
  if (samples.empty()) fail('[', kOp, "] needs a sample of each argument");
  for (const Tensor& sample : samples)
    if (!sample.defined() || !sample.is_cuda()) fail('[', kOp, "] samples must be on a cuda device");
  auto state = std::make_shared<Graphed::State>();
  for (const Tensor& sample : samples) {
    state->inputs.push_back(sample.detach().clone(site).requires_grad_(sample.requires_grad()));
    state->wants.push_back(sample.requires_grad());
  }
  state->parameters = parameters;
  for (const Tensor& parameter : parameters) state->wants.push_back(parameter.requires_grad());

  const EnableGradGuard recording;
  const DeviceGuard device(samples.front().device());
  const auto make_output_gradients = [&](const std::vector<Tensor>& outputs) {
    state->output_gradients.clear();
    for (const Tensor& output : outputs)
      state->output_gradients.push_back(
          output.requires_grad() ? zeros(output.sizes(), {.dtype = output.dtype(), .device = output.device()}, site) : Tensor());
  };
  // Buffers, plans and libraries are made by the first passes, which a capture could not do.
  const Stream side{samples.front().device()};
  side.wait_stream(current_stream(samples.front().device()), site);
  const auto warm_up = [&] {
    const StreamGuard guard(side);
    for (int i = 0; i < options.num_warmup_iters; ++i) {
      const std::vector<Tensor> outputs = function(state->inputs);
      make_output_gradients(outputs);
      (void)gradients_of(*state, outputs, options.allow_unused_input, site);
    }
  };
  try {
    warm_up();
  } catch (...) {  // What it reads may be let go now, and its memory used again.
    current_stream(samples.front().device()).wait_stream(side, site);
    throw;
  }
  side.synchronize(site);
  state->surroundings = Surroundings(std::move(current));
  GraphOptions capture{options.pool.holder() ? options.pool : graph_pool_handle(), {}};
  std::vector<Tensor> outputs;
  graph(
      state->forward, [&] { outputs = function(state->inputs); }, capture, site);
  if (outputs.empty()) fail('[', kOp, "] the function returned no tensor");
  make_output_gradients(outputs);
  graph(
      state->backward,
      [&] {
        state->gradients = gradients_of(*state, outputs, options.allow_unused_input, site);
        state->all_gradients = in_one_row(state->gradients, site);
      },
      capture, site);
  for (const Tensor& output : outputs) state->outputs.push_back(output.detach());
  return Graphed(state);
}

std::vector<Tensor> Graphed::operator()(const std::vector<Tensor>& given, Site site) const {
  State& state = *state_;
  if (given.size() != state.inputs.size())
    fail('[', kOp, "] the graph takes ", state.inputs.size(), " tensors, but was given ", given.size());
  for (size_t i = 0; i < given.size(); ++i) check_input(i, given[i], state.inputs[i]);
  state.surroundings.check();
  {
    const NoGradGuard quiet;
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i].data_ptr() != state.inputs[i].data_ptr()) state.inputs[i].detach().copy_(given[i], true, site);
    state.forward.replay(site);
  }
  std::vector<Tensor> results;
  for (const Tensor& output : state.outputs) {
    output.impl().storage->bump_version();  // a tensor of the call before, saved for a gradient, is not what it was
    results.push_back(output.detach());
  }
  bool any = false;
  std::vector<autograd::Edge> edges;
  for (size_t i = 0; i < state.wants.size(); ++i) {
    const Tensor& input = i < given.size() ? given[i] : state.parameters[i - given.size()];
    const bool needs = autograd::needs_grad(input);
    if (needs && !state.wants[i])
      fail('[', kOp, "] parameter ", i - given.size(), " of sizes ", input.sizes(),
           " requires a gradient now, but did not when the graph was captured: capture another graph");
    any |= needs;
    edges.push_back(autograd::edge_of(input));
  }
  if (!any) return results;
  auto* node = new GraphedNode(site, std::move(edges), state_);
  const Ref<autograd::Node> held(node);
  for (uint32_t i = 0; i < results.size(); ++i)
    if (state.output_gradients[i].defined()) autograd::set_history(results[i], held, i);
  return results;
}

Tensor Graphed::operator()(const Tensor& input, Site site) const {
  std::vector<Tensor> results = (*this)(std::vector<Tensor>{input}, site);
  if (results.size() != 1) fail('[', kOp, "] the function has ", results.size(), " results: call it with a vector of tensors");
  return results.front();
}

}  // namespace tandem::cuda
