#include "autograd/saved.h"

#include "autograd/history.h"
#include "base/error.h"

namespace tandem::autograd {

SavedTensor::SavedTensor(const Tensor& tensor, bool output, uint32_t output_nr) : output_nr_(output_nr), output_(output) {
  if (!tensor.defined()) return;
  version_ = tensor.version();
  tensor_ = output ? tensor.detach() : tensor;
}

Tensor SavedTensor::get(const Node* node) const {
  if (!tensor_.defined()) return Tensor();
  if (tensor_.version() != version_)
    fail("one of the variables needed for gradient computation has been modified by an inplace operation: [",
         tensor_.device().is_cuda() ? "cuda " : "", scalar_name(tensor_.dtype()), " ", tensor_.sizes(), "]",
         node ? str(", which is output ", output_nr_, " of ", node->name(), ",") : std::string(), " is at version ", tensor_.version(),
         "; expected version ", version_,
         " instead. Hint: use the operation that is not in place, or clone() first; to() and load_state_dict with "
         "assign are such changes of a module's parameters, too");
  if (const Storage& storage = *tensor_.impl().storage; storage.was_refilled() || !storage.data()) [[unlikely]]
    tensor_.impl().refresh();
  if (!output_ || !node) return tensor_;
  Tensor result = tensor_.detach();
  set_history(result, Ref<Node>(const_cast<Node*>(node)), output_nr_);
  return result;
}

}  // namespace tandem::autograd
