#include "autograd/saved.h"

#include "autograd/history.h"
#include "base/error.h"

namespace tandem::autograd {
namespace {

/// The values with a history that leads where the packed tensor's did.
Tensor with_history(const Tensor& values, const Edge& edge) {
  Tensor result = values.detach();
  if (edge.node) {
    set_history(result, edge.node, edge.output_nr);
    return result;
  }
  const auto same = [](const Tensor& g) { return g; };
  auto* node = new FunctionNode<1, decltype(same)>("AliasBackward0", Site::none(), decltype(same)(same));
  Ref<Node> held(node);
  node->edges()[0] = edge;
  set_history(result, std::move(held));
  return result;
}

}  // namespace

SavedTensor::SavedTensor(const Tensor& tensor, bool output, uint32_t output_nr) : output_nr_(output_nr), output_(output) {
  if (!tensor.defined()) return;
  if (tensor.impl().inference && !detail::inference_mode) [[unlikely]]
    fail(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by "
        "autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use ",
        Hint("NoGradGuard in place of InferenceMode", "no_grad() in place of inference_mode()"));
  version_ = tensor.impl().version();
  tensor_ = output ? tensor.detach() : tensor;
  if (detail::saved_hooks) [[unlikely]]
    pack();
}

void SavedTensor::pack() {
  const NoGradGuard no_grad;
  const Ref<SavedHooks> hooks(detail::saved_hooks);
  const SavedTensorsHooks none(nullptr);  // what pack computes is not for backward
  Ref<detail::PackedTensor> packed(new detail::PackedTensor);
  packed->hooks = hooks;
  if (!output_) packed->edge = edge_of(tensor_);
  const Tensor values = tensor_.detach();
  packed->value = hooks->pack(values);
  if (values.impl().version() != version_)
    fail(
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be modified by "
        "in-place operations as this can lead to unexpected side-effects. Hint: change a clone() of it");
  packed_ = std::move(packed);
  tensor_ = Tensor();
}

Tensor SavedTensor::get(const Node* node) const {
  if (packed_) [[unlikely]]
    return unpack(node);
  if (!tensor_.defined()) return Tensor();
  if (tensor_.impl().version() != version_)
    fail("one of the variables needed for gradient computation has been modified by an inplace operation: [",
         tensor_.device().is_cuda() ? "cuda " : "", scalar_name(tensor_.dtype()), " ", tensor_.sizes(), "]",
         node ? str(", which is output ", output_nr_, " of ", node->name(), ",") : std::string(), " is at version ",
         tensor_.impl().version(), "; expected version ", version_,
         " instead. Hint: use the operation that is not in place, or clone() first; to() and load_state_dict with "
         "assign are such changes of a module's parameters, too");
  if (const Storage& storage = *tensor_.impl().storage; storage.was_refilled() || !storage.data()) [[unlikely]]
    tensor_.impl().refresh();
  if (!output_ || !node) return tensor_;
  return with_node(tensor_, node);
}

Tensor SavedTensor::with_node(const Tensor& values, const Node* node) const {
  Tensor result = values.detach();
  set_history(result, Ref<Node>(const_cast<Node*>(node)), output_nr_);
  return result;
}

Tensor SavedTensor::unpack(const Node* node) const {
  Tensor values;
  {
    const NoGradGuard no_grad;
    values = packed_->hooks->unpack(packed_->value);
  }
  if (!values.defined()) fail("Output of saved tensor unpack_hook expected to be a Tensor, but it is undefined");
  if (output_ && node) return with_node(values, node);
  // Also where nothing is recorded: a function of the user's own asks a saved tensor whether it requires a gradient.
  return packed_->edge ? with_history(values, packed_->edge) : values;
}

}  // namespace tandem::autograd
