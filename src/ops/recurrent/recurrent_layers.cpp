// One node stands for all layers and steps. It keeps what the user handed in, the output, and the kernel's reserve, which backward uses up:
// a second backward over a retained graph first runs forward again.
#include "ops/recurrent/recurrent_layers.h"

#include <utility>

#include "autograd/autograd.h"
#include "autograd/history.h"
#include "ops/creation.h"
#include "ops/launch.h"
#include "ops/view.h"

namespace tandem::ops {
namespace {

using kernels::RecurrentLayers;
using kernels::RecurrentMemory;

/// How many tensors are the states to begin with.
size_t states_of(RecurrentKind kind) { return kind == RecurrentKind::Lstm ? 2 : 1; }

/// What does not change from one call of a kernel to the next.
struct Layers {
  const char* op;
  RecurrentKind kind;
  bool has_biases;
  int64_t count;
  bool bidirectional;
  Site site;

  [[nodiscard]] RecurrentLayers setting() const { return {kind, static_cast<int32_t>(count), bidirectional, has_biases}; }
  [[nodiscard]] size_t states() const { return states_of(kind); }
};

/// The tensors of a call: input, h0, c0 of an LSTM, parameters.
using Tensors = std::vector<Tensor>;

Tensors dense(const Tensors& tensors, Site site) {
  Tensors all;
  for (const Tensor& x : tensors) all.push_back(x.detach().contiguous(site));
  return all;
}

std::vector<kernels::View> parameter_views(const Layers& layers, const Tensors& in) {
  std::vector<kernels::View> views;
  for (size_t i = 1 + layers.states(); i < in.size(); ++i) views.push_back(view(in[i]));
  return views;
}

/// `in` is dense; `reserve` may be undefined.
LstmResult run_forward(const Layers& layers, const Tensors& in, const Tensor& reserve, const RecurrentMemory& memory) {
  const Tensor &x = in[0], &h0 = in[1], c0 = layers.states() == 2 ? in[2] : Tensor();
  LstmResult result;
  result.output =
      empty({x.size(0), x.size(1), h0.size(2) * (layers.bidirectional ? 2 : 1)}, {.dtype = x.dtype(), .device = x.device()}, layers.site);
  result.h_n = empty_like(h0, {}, layers.site);
  if (c0.defined()) result.c_n = empty_like(c0, {}, layers.site);
  const auto weights = parameter_views(layers, in);
  launch(x, layers.op, layers.site, &kernels::Table::recurrent, result.output, result.h_n, result.c_n, reserve, x, h0, c0, weights,
         layers.setting(), memory.workspace);
  return result;
}

class RecurrentNode final : public autograd::Node {
 public:
  RecurrentNode(const Layers& layers, std::vector<autograd::Edge> edges, const Tensors& inputs, const LstmResult& result, Tensor reserve,
                RecurrentMemory memory)
      : Node(inputs[0].is_cuda() ? "CudnnRnnBackward0" : "MkldnnRnnLayerBackward0", layers.site, layers.states() + 1, edges.data(),
             static_cast<uint32_t>(edges.size())),
        layers_(layers),
        edges_(std::move(edges)),
        output_(autograd::saved_output(result.output)),
        reserve_(std::move(reserve)),
        memory_(memory) {
    for (const Tensor& input : inputs) inputs_.push_back(autograd::saved(input));
  }

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    if (released_) autograd::fail_released(*this);
    Tensors inputs;
    bool recorded = false;
    for (const auto& input : inputs_) recorded |= autograd::needs_grad(inputs.emplace_back(input.get()));
    for (const Tensor& gradient : gradients) recorded |= autograd::needs_grad(gradient);
    if (recorded) return by_steps(inputs, gradients, results);
    by_kernel(dense(inputs, site()), gradients, results);
  }

  void forget_saved() override {
    inputs_.clear();
    output_.reset();
    reserve_ = Tensor();
    released_ = true;
  }

 private:
  void by_kernel(const Tensors& in, std::span<Tensor> gradients, std::span<Tensor> results) {
    const Tensor output = output_.get(this).detach(), &x = in[0], &h0 = in[1], c0 = layers_.states() == 2 ? in[2] : Tensor();
    if (used_up_ && reserve_.defined()) (void)run_forward(layers_, in, reserve_, memory_);
    used_up_ = true;
    const auto dense_gradient = [&](size_t i) {
      return i < gradients.size() && gradients[i].defined() ? gradients[i].contiguous() : Tensor();
    };
    const Tensor grad = gradients[0].defined() ? dense_gradient(0) : zeros_like(output), h_grad = dense_gradient(1),
                 c_grad = dense_gradient(2);
    std::vector<kernels::Out> to;
    for (size_t i = 0; i < in.size(); ++i) {
      if (wants(i)) results[i] = empty_like(in[i]);
      to.push_back(out(results[i]));
    }
    const size_t first = 1 + layers_.states();
    const auto weights = parameter_views(layers_, in);
    const auto count = static_cast<int64_t>(weights.size());
    launch(x, layers_.op, site(), &kernels::Table::recurrent_backward, to[0], to[1], c0.defined() ? to[2] : kernels::Out{},
           {to.data() + first, count}, reserve_, grad, h_grad, c_grad, x, output, h0, c0, {weights.data(), count}, layers_.setting(),
           memory_.workspace);
  }

  /// Forward once more, step by step, and back through it while that is recorded. It starts from views of the inputs, at which the
  /// gradients are taken: what lies before them is not walked.
  void by_steps(Tensors inputs, std::span<Tensor> gradients, std::span<Tensor> results) {
    std::vector<Tensor> targets;
    std::vector<size_t> numbers;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!wants(i) || !autograd::needs_grad(inputs[i])) continue;
      inputs[i] = inputs[i].view(inputs[i].sizes(), site());
      targets.push_back(inputs[i]);
      numbers.push_back(i);
    }
    if (targets.empty()) return;
    const auto params = inputs.begin() + 1 + static_cast<int64_t>(layers_.states());
    const LstmResult result =
        recurrent_steps(layers_.op, layers_.kind, inputs[0], nullptr, {inputs.begin() + 1, params}, {params, inputs.end()},
                        layers_.has_biases, layers_.count, 0, false, layers_.bidirectional, site());
    const Tensor outputs[3] = {result.output, result.h_n, result.c_n};
    std::vector<Tensor> from;
    GradOptions options{.create_graph = true, .allow_unused = true};
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      from.push_back(outputs[i]);
      options.grad_outputs.push_back(gradients[i]);
    }
    const auto found = grad(from, targets, options, site());
    for (size_t i = 0; i < found.size(); ++i) results[numbers[i]] = found[i];
  }

  Layers layers_;
  std::vector<autograd::Edge> edges_;
  std::vector<autograd::SavedTensor> inputs_;
  autograd::SavedTensor output_;
  Tensor reserve_;
  RecurrentMemory memory_;  // as forward had it: switches may have changed since
  bool used_up_ = false, released_ = false;
};

}  // namespace

bool suits_recurrent_layers(RecurrentKind kind, const Tensor& input, const std::vector<Tensor>& hx, const std::vector<Tensor>& params,
                            bool has_biases, int64_t num_layers, bool bidirectional) {
  if (input.dim() != 3 || hx.size() != states_of(kind) || hx[0].dim() != 3 || num_layers < 1) return false;
  const int64_t directions = bidirectional ? 2 : 1, hidden = hx[0].size(2), rows = gates_of(kind) * hidden;
  const auto fits = [&](const Tensor& x, const Shape& sizes) {
    return x.defined() && x.sizes() == sizes && x.dtype() == input.dtype() && x.device() == input.device();
  };
  if (!is_floating(input.dtype()) || input.numel() == 0 || hidden == 0) return false;
  for (const Tensor& h : hx)
    if (!fits(h, {num_layers * directions, input.size(1), hidden})) return false;
  const size_t each = has_biases ? 4 : 2;
  if (params.size() != each * static_cast<size_t>(num_layers * directions)) return false;
  for (size_t i = 0; i < params.size(); i += each) {
    const bool first = i < each * static_cast<size_t>(directions);
    if (!fits(params[i], {rows, first ? input.size(2) : directions * hidden}) || !fits(params[i + 1], {rows, hidden})) return false;
    if (has_biases && (!fits(params[i + 2], {rows}) || !fits(params[i + 3], {rows}))) return false;
  }
  return true;
}

LstmResult recurrent_layers(const char* op, RecurrentKind kind, const Tensor& input, const std::vector<Tensor>& hx,
                            const std::vector<Tensor>& params, bool has_biases, int64_t num_layers, bool bidirectional, Site site) {
  const Layers layers{op, kind, has_biases, num_layers, bidirectional, site};
  Tensors inputs{input};
  inputs.insert(inputs.end(), hx.begin(), hx.end());
  inputs.insert(inputs.end(), params.begin(), params.end());
  bool records = false;
  for (const Tensor& x : inputs) records |= autograd::needs_grad(x);
  const Tensors in = dense(inputs, site);
  const RecurrentMemory memory = kernels_of(input).recurrent_memory(view(in[0]), view(in[1]), layers.setting());
  const Tensor reserve = records ? workspace(input.device(), memory.reserve, site) : Tensor();
  LstmResult result = run_forward(layers, in, reserve, memory);
  if (!records) return result;
  std::vector<autograd::Edge> edges;
  for (const Tensor& x : inputs) edges.push_back(autograd::edge_of(x));
  const Ref<autograd::Node> node(new RecurrentNode(layers, std::move(edges), inputs, result, reserve, memory));
  autograd::set_history(result.output, node, 0);
  autograd::set_history(result.h_n, node, 1);
  if (result.c_n.defined()) autograd::set_history(result.c_n, node, 2);
  return result;
}

}  // namespace tandem::ops
