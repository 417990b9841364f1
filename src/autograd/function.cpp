#include "autograd/function.h"

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"
#include "ops/autocast.h"
#include "ops/view.h"

namespace tandem::autograd {

struct Context::Saved {
  std::vector<Tensor> pending;  // saved while forward runs: which of them are outputs is known only afterwards
  std::vector<SavedTensor> tensors;
  const Node* node = nullptr;
  bool released = false;
};

Context::Context() : saved_(std::make_unique<Saved>()) {}
Context::~Context() = default;

void Context::save_for_backward(std::vector<Tensor> tensors) { saved_->pending = std::move(tensors); }

std::vector<Tensor> Context::saved() const {
  if (saved_->released) fail_released(*saved_->node);
  std::vector<Tensor> tensors;
  for (const SavedTensor& saved : saved_->tensors) tensors.push_back(saved.get(saved_->node));
  return tensors;
}

/// What the gradient of an input has to be.
struct Like {
  Shape sizes;
  DType dtype;
  Device device;
};

/// The node of a custom function: as many inputs and outputs as it happens to have.
struct CustomNode final : Node {
  CustomNode(const char* name, Site site, std::vector<Edge> edges, std::vector<Like> inputs, uint32_t outputs,
             std::shared_ptr<Context> context, detail::BackwardFunction function)
      : Node(name, site, outputs, edges.data(), static_cast<uint32_t>(edges.size())),
        edges(std::move(edges)),
        inputs(std::move(inputs)),
        context(std::move(context)),
        function(function) {}

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    const ops::AutocastScope as_in_forward(autocast);
    auto computed = function(*context, std::vector<Tensor>(gradients.begin(), gradients.end()));
    while (computed.size() > results.size() && !computed.back().defined()) computed.pop_back();
    if (computed.size() != results.size())
      fail("Function ", name(), " returned an incorrect number of gradients (expected ", results.size(), ", got ", computed.size(), ")");
    for (size_t i = 0; i < results.size(); ++i)
      if (computed[i].defined() && edges[i]) results[i] = fitted(i, std::move(computed[i]));
  }
  /// A gradient as its input needs it: summed where the input was broadcast, and of its dtype.
  [[nodiscard]] Tensor fitted(size_t i, Tensor gradient) const {
    const Like& input = inputs[i];
    if (!(gradient.sizes() == input.sizes)) {
      if (!can_expand(input.sizes, gradient.sizes()))
        fail("Function ", name(), " returned an invalid gradient at index ", i, " - got ", gradient.sizes(),
             " but expected shape compatible with ", input.sizes);
      gradient = sum_to_size(gradient, input.sizes);
    }
    if (!is_floating(gradient.dtype()))
      fail("Function ", name(), " returned an invalid gradient at index ", i, " - expected a floating dtype but got ", gradient.dtype());
    if (gradient.dtype() != input.dtype) gradient = gradient.to(input.dtype);
    if (gradient.device() == input.device) return gradient;
    if (gradient.dim() > 0)
      fail("Function ", name(), " returned an invalid gradient at index ", i, " - expected device ", input.device, " but got ",
           gradient.device());
    return gradient.to(input.device);
  }
  void forget_saved() override {
    context->saved_->tensors.clear();
    context->saved_->released = true;
  }
  static void keep(Context& context, const Node* node, const std::vector<Tensor>& outputs) {
    auto& saved = *context.saved_;
    saved.node = node;
    for (const Tensor& tensor : saved.pending) {
      uint32_t nr = 0;
      while (nr < outputs.size() && !outputs[nr].is_same(tensor)) ++nr;
      saved.tensors.emplace_back(tensor, nr < outputs.size(), nr);
    }
    saved.pending.clear();
  }
  static void need(Context& context, const std::vector<Tensor>& inputs) {
    for (const Tensor& input : inputs) context.needs_.push_back(needs_grad(input));
  }

  std::vector<Edge> edges;
  std::vector<Like> inputs;
  std::shared_ptr<Context> context;
  detail::BackwardFunction function;
  const ops::AutocastState autocast = ops::autocast_state();
};

void detail::set_needs(Context& context, const std::vector<Tensor>& inputs) { CustomNode::need(context, inputs); }

detail::UsersCode::UsersCode() : before_(std::exchange(tandem::detail::work_site, nullptr)) {}
detail::UsersCode::~UsersCode() { tandem::detail::work_site = before_; }

std::string detail::backward_name(std::string_view pretty_function) {
  // "… [with Args = {…}; F = a::b::Square]", or "[F = a::b::Square]".
  const size_t start = pretty_function.rfind("F = ") + 4;
  std::string_view name = pretty_function.substr(start, pretty_function.find_first_of(";]", start) - start);
  name = name.substr(0, name.find('<'));
  if (const size_t scope = name.rfind(':'); scope != std::string_view::npos) name.remove_prefix(scope + 1);
  return std::string(name) + "Backward";
}

std::vector<Tensor> detail::record_custom(const char* name, std::shared_ptr<Context> context, const std::vector<Tensor>& inputs,
                                          std::vector<Tensor> outputs, BackwardFunction backward, Site site) {
  bool any = false;
  std::vector<Edge> edges;
  std::vector<Like> like;
  for (const Tensor& input : inputs) {
    any |= needs_grad(input);
    edges.push_back(edge_of(input));
    like.push_back(input.defined() ? Like{input.sizes(), input.dtype(), input.device()} : Like{});
  }
  if (!any) return outputs;
  for (Tensor& output : outputs)  // an input handed through is a view of it
    for (const Tensor& input : inputs)
      if (output.is_same(input)) {
        output = output.detach();
        output.impl().view_origin = ViewOrigin::NoGrad;
      }
  auto* node = new CustomNode(name, site, std::move(edges), std::move(like), static_cast<uint32_t>(outputs.size()), context, backward);
  const Ref<Node> held(node);
  CustomNode::keep(*context, node, outputs);
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    TensorImpl& output = outputs[i].impl();
    const bool view = output.view_origin != ViewOrigin::Recorded;
    set_history(outputs[i], held, i);
    if (view) output.view_origin = ViewOrigin::CustomFunction;
  }
  return outputs;
}

}  // namespace tandem::autograd
