#include "autograd/autograd.h"

#include <algorithm>

#include "autograd/engine.h"
#include "autograd/history.h"
#include "autograd/hooks.h"
#include "base/error.h"
#include "ops/creation.h"
#include "ops/view.h"

namespace tandem {
namespace autograd {
namespace {

/// The gradient an output starts with: the given one, checked, or a one.
Tensor seed_gradient(const char* op, const Tensor& output, const Tensor& given, Site site) {
  if (!output.requires_grad())
    fail("[", op, "] element 0 of tensors does not require grad and does not have a grad_fn; ",
         Hint("call requires_grad_() on what it is computed from, and compute it outside of NoGradGuard",
              "call requires_grad_() on what it is computed from, and compute it outside of no_grad()"));
  if (!given.defined()) {
    if (output.numel() != 1)
      fail("[", op, "] grad can be implicitly created only for scalar outputs, but the output has sizes ", output.sizes(),
           "; pass a gradient, or reduce it with sum() or mean()");
    return full_like(output, 1, {}, site);
  }
  if (given.sizes() != output.sizes())
    fail("[", op, "] Mismatch in shape: grad_output has a shape of ", given.sizes(), " and output has a shape of ", output.sizes(),
         "; reshape it");
  if (given.device() != output.device()) fail("[", op, "] the gradient is on ", given.device(), ", its output on ", output.device());
  return given.dtype() == output.dtype() ? given : given.to(output.dtype(), {}, site);
}

std::vector<Tensor> seeds(const char* op, const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients, Site site) {
  if (!gradients.empty() && gradients.size() != outputs.size())
    fail("[", op, "] got ", outputs.size(), " tensors and ", gradients.size(), " gradients");
  std::vector<Tensor> result;
  result.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    result.push_back(seed_gradient(op, outputs[i], gradients.empty() ? Tensor() : gradients[i], site));
  return result;
}

std::vector<Edge> edges_of(const std::vector<Tensor>& tensors) {
  std::vector<Edge> edges;
  edges.reserve(tensors.size());
  for (const Tensor& tensor : tensors) edges.push_back(edge_of(tensor));
  return edges;
}

}  // namespace

void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients, BackwardOptions options,
              const std::vector<Tensor>& inputs, Site site) {
  if (inputs.empty()) fail("[backward] 'inputs' argument to backward() cannot be empty.");
  std::vector<Tensor> targets;  // each once
  for (const Tensor& input : inputs)
    if (std::none_of(targets.begin(), targets.end(), [&](const Tensor& other) { return other.is_same(input); })) targets.push_back(input);
  const std::vector<Tensor> found = grad(outputs, targets,
                                         {.grad_outputs = gradients,
                                          .retain_graph = options.retain_graph || options.create_graph,
                                          .create_graph = options.create_graph,
                                          .allow_unused = true},
                                         site);
  const SetGradGuard recorded(options.create_graph);
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!found[i].defined()) continue;
    Tensor& gradient = targets[i].grad();
    if (!gradient.defined()) gradient = options.create_graph ? found[i] : found[i].clone(site);  // others may share what was found
    else if (options.create_graph) gradient = gradient.add(found[i], 1, site);
    else gradient.add_(found[i], 1, site);
  }
}

void backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients, BackwardOptions options, Site site) {
  (void)run_backward(edges_of(outputs), seeds("backward", outputs, gradients, site), {}, options.retain_graph || options.create_graph,
                     options.create_graph, site);
}

}  // namespace autograd

bool is_grad_enabled() { return autograd::detail::grad_enabled; }

SetGradGuard::SetGradGuard(bool enabled) : before_(std::exchange(autograd::detail::grad_enabled, enabled)) {}
SetGradGuard::~SetGradGuard() { autograd::detail::grad_enabled = before_; }

InferenceMode::InferenceMode(bool enabled)
    : recording_before_(std::exchange(autograd::detail::grad_enabled, !enabled)),
      before_(std::exchange(autograd::detail::inference_mode, enabled)) {}
InferenceMode::~InferenceMode() {
  autograd::detail::grad_enabled = recording_before_;
  autograd::detail::inference_mode = before_;
}
bool InferenceMode::is_enabled() { return autograd::detail::inference_mode; }

uint32_t Tensor::version(Site site) const {
  const TensorImpl& self = impl(site);
  if (self.inference) fail("[version] Inference tensors do not track version counter.");
  return self.version();
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, const GradOptions& options, Site site) {
  if (inputs.empty()) fail("[grad] grad requires non-empty inputs.");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].requires_grad())
      fail("[grad] One of the differentiated Tensors does not require grad: input ", i, "; call requires_grad_() on it before computing");
  auto result =
      autograd::run_backward(autograd::edges_of(outputs), autograd::seeds("grad", outputs, options.grad_outputs, site),
                             autograd::edges_of(inputs), options.retain_graph.value_or(options.create_graph), options.create_graph, site);
  if (!options.allow_unused) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!result[i].defined())
        fail("[grad] The differentiated Tensor at index ", i, " appears to not have been used in the graph. ",
             Hint("Set allow_unused = true if this is the desired behavior", "Set allow_unused=True if this is the desired behavior"));
  }
  return result;
}

void Tensor::backward(const Tensor& gradient, BackwardOptions options, Site site) const {
  std::vector<Tensor> seed;
  seed.push_back(autograd::seed_gradient("backward", *this, gradient, site));
  const std::vector<autograd::Edge> roots{autograd::edge_of(*this)};
  (void)autograd::run_backward(roots, std::move(seed), {}, options.retain_graph || options.create_graph, options.create_graph, site);
}

void Tensor::backward(const Tensor& gradient, BackwardOptions options, const std::vector<Tensor>& inputs, Site site) const {
  autograd::backward({*this}, gradient.defined() ? std::vector<Tensor>{gradient} : std::vector<Tensor>{}, options, inputs, site);
}

const Tensor& Tensor::requires_grad_(Flag required, Site /*site*/) const {
  TensorImpl& self = impl();
  if (self.grad_fn && !required)
    fail("[requires_grad_] you can only change requires_grad flags of leaf variables; use detach() to get a tensor without history");
  if (required && !is_floating(self.dtype))
    fail("[requires_grad_] only Tensors of floating point dtype can require gradients, not ", self.dtype, "; convert with to(kFloat32)");
  if (required && self.inference && !autograd::detail::inference_mode)
    fail("[requires_grad_] Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. Hint: clone() it first");
  self.requires_grad = required;
  return *this;
}

void Tensor::set_grad(const Tensor& grad, Site /*site*/) const {
  if (grad.defined()) {
    if (grad.is_same(*this)) fail("[set_grad] can't assign Variable as its own grad; assign a clone()");
    if (grad.sizes() != sizes())
      fail("[set_grad] attempting to assign a gradient of size '", grad.sizes(), "' to a tensor of size '", sizes(),
           "'. Please ensure that the gradient and the tensor are the same size");
    if (grad.dtype() != dtype())
      fail("[set_grad] attempting to assign a gradient with dtype '", grad.dtype(), "' to a tensor with dtype '", dtype(),
           "'; convert it with to()");
    if (grad.device() != device())
      fail("[set_grad] attempting to assign a gradient with device '", grad.device(), "' to a tensor with device '", device(),
           "'. Please ensure that the gradient and the tensor are on the same device");
  }
  impl().grad = grad;
}

Tensor Tensor::detach() const {
  const TensorImpl& self = impl();
  Tensor y(self.alias(self.sizes, self.strides, self.offset, self.dtype));
  y.impl().inference &= autograd::detail::inference_mode;
  return y;
}

Tensor Tensor::data() const {
  Tensor y = detach();
  y.impl().own_version = Ref<OwnVersion>(new OwnVersion);
  return y;
}

void Tensor::set_data(const Tensor& source, Site /*site*/) const {
  if (requires_grad() && !is_floating(source.dtype()))
    fail("[set_data] data set to a tensor that requires gradients must be floating point or complex dtype");
  impl().replace_storage(source.impl());
}

const Tensor& Tensor::detach_(Site /*site*/) const {
  TensorImpl& self = impl();
  if (self.base) fail("[detach_] can't detach views in-place; use detach() instead");
  self.grad_fn = nullptr;
  self.requires_grad = false;
  return *this;
}

void Tensor::retain_grad(Site /*site*/) const {
  if (!requires_grad()) fail("[retain_grad] can't retain_grad on Tensor that has requires_grad=False");
  const autograd::Edge edge = autograd::edge_of(*this);
  if (!edge.node) return;
  AutogradExtras& extras = impl().extras.make();
  if (extras.retained) return;
  extras.retained = Ref<autograd::RetainedGrad>(new autograd::RetainedGrad(impl()));
  edge.node->make_hooks().retain(edge.output_nr, extras.retained);
}

bool Tensor::retains_grad() const {
  const AutogradExtras* extras = impl().extras.get();
  return extras && extras->retained;
}

Tensor Tensor::_base(Site site) const {
  if (!is_view(site)) fail("[_base] Can't get base of non-view Tensor: ask is_view() first");
  return Tensor(impl().base);
}

int64_t Tensor::register_hook(std::function<Tensor(const Tensor&)> hook, Site /*site*/) const {
  if (!requires_grad()) fail("[register_hook] cannot register a hook on a tensor that doesn't require gradient");
  const autograd::Edge edge = autograd::edge_of(*this);
  autograd::Hooks& hooks = edge.node ? edge.node->make_hooks().hooks : impl().extras.make().hooks;
  return hooks.add(edge.output_nr, std::move(hook));
}

int64_t Tensor::register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook, Site /*site*/) const {
  if (!requires_grad()) fail("[register_post_accumulate_grad_hook] cannot register a hook on a tensor that doesn't require gradient");
  if (!is_leaf())
    fail(
        "[register_post_accumulate_grad_hook] post accumulate grad hooks cannot be registered on non-leaf tensors: this one is a result "
        "of ",
        grad_fn()->name(), ". Use register_hook");
  return impl().extras.make().after_accumulation.make().add(0, [hook = std::move(hook)](const Tensor& leaf) {
    hook(leaf);
    return Tensor();
  });
}

void Tensor::remove_hook(int64_t number) const {
  if (grad_fn() && grad_fn()->hooks()) grad_fn()->hooks()->hooks.remove(number);
  AutogradExtras* extras = impl().extras.get();
  if (!extras) return;
  extras->hooks.remove(number);
  if (autograd::Hooks* after = extras->after_accumulation.get()) after->remove(number);
}

void autograd::set_divided_gradient(const Tensor& leaf, std::shared_ptr<DividedGradient> divided) {
  leaf.impl().extras.make().divided = std::move(divided);
}

const autograd::DividedGradient* autograd::divided_gradient(const Tensor& leaf) {
  const AutogradExtras* const extras = leaf.impl().extras.get();
  return extras ? extras->divided.get() : nullptr;
}

}  // namespace tandem
