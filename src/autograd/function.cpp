#include "autograd/function.h"

#include "autograd/history.h"
#include "base/error.h"
#include "base/work_site.h"

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

/// The node of a custom function: as many inputs and outputs as it happens to have.
struct CustomNode final : Node {
  CustomNode(const char* name, Site site, std::vector<Edge> edges, uint32_t outputs, std::shared_ptr<Context> context,
             detail::BackwardFunction function)
      : Node(name, site, outputs, edges.data(), static_cast<uint32_t>(edges.size())),
        edges(std::move(edges)),
        context(std::move(context)),
        function(function) {}

  void backward(std::span<Tensor> gradients, std::span<Tensor> results) override {
    auto computed = [&] {
      const tandem::detail::WorkSite users(nullptr);
      return function(*context, std::vector<Tensor>(gradients.begin(), gradients.end()));
    }();
    if (computed.size() != results.size())
      fail("[", name(), "] backward returned ", computed.size(), " gradients, but forward had ", results.size(), " tensor arguments");
    for (size_t i = 0; i < results.size(); ++i) results[i] = std::move(computed[i]);
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
  std::shared_ptr<Context> context;
  detail::BackwardFunction function;
};

void detail::set_needs(Context& context, const std::vector<Tensor>& inputs) { CustomNode::need(context, inputs); }

std::vector<Tensor> detail::record_custom(const char* name, std::shared_ptr<Context> context, const std::vector<Tensor>& inputs,
                                          std::vector<Tensor> outputs, BackwardFunction backward, Site site) {
  bool any = false;
  std::vector<Edge> edges;
  for (const Tensor& input : inputs) {
    any |= needs_grad(input);
    edges.push_back(edge_of(input));
  }
  if (!any) return outputs;
  for (Tensor& output : outputs)  // an input handed through is a new tensor with the same values
    for (const Tensor& input : inputs)
      if (output.is_same(input)) output = output.detach();
  auto* node = new CustomNode(name, site, std::move(edges), static_cast<uint32_t>(outputs.size()), context, backward);
  const Ref<Node> held(node);
  CustomNode::keep(*context, node, outputs);
  for (uint32_t i = 0; i < outputs.size(); ++i) set_history(outputs[i], held, i);
  return outputs;
}

}  // namespace tandem::autograd
