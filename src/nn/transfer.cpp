#include "nn/transfer.h"

#include "base/error.h"
#include "nn/walk.h"
#include "tensor/share.h"
#include "tensor/tensor_impl.h"

namespace tandem {

void multiprocessing::Codec<StateDict>::put(detail::Parcel& parcel, const StateDict& value) {
  parcel.put<uint64_t>(value.size());
  for (const auto& [name, tensor] : value) {
    parcel.put_text(name);
    Codec<Tensor>::put(parcel, tensor);
  }
}

StateDict multiprocessing::Codec<StateDict>::take(detail::Received& received) {
  StateDict value;
  for (size_t left = received.take_count(sizeof(uint64_t)); left > 0; --left) {
    const std::string name(received.take_text());
    value[name] = Codec<Tensor>::take(received);
  }
  return value;
}

namespace nn {

void ModuleBase::share_memory(Site /*site*/) {
  std::vector<Tensor> tensors;
  detail::Met met;
  detail::walk(*this, false, [&](const detail::Field& field) {
    if (field.is_module()) return;
    if (field.is_pending())
      fail("[Module.share_memory] ", name(), " has parameters that wait for a first forward: call nn::initialize(module, input) before");
    if (!field.tensor->defined() || !met.add(*field.tensor)) return;
    tensors.push_back(*field.tensor);
    if (const Tensor grad = field.tensor->grad(); grad.defined()) tensors.push_back(grad);
  });
  tandem::detail::share_memory(tensors, "Module.share_memory");
}

namespace detail {

using multiprocessing::Codec;

// After the state: the modes of the modules, and what a state does not have.
void put_module(multiprocessing::detail::Parcel& parcel, const ModuleBase& module) {
  Codec<StateDict>::put(parcel, module.state_dict());
  walk(module, false, [&](const Field& field) {
    if (field.is_module()) return Codec<bool>::put(parcel, field.module->training());
    Codec<bool>::put(parcel, field.tensor->defined() && field.tensor->requires_grad());
    if (!field.persistent) Codec<Tensor>::put(parcel, field.tensor->defined() ? field.tensor->detach() : Tensor());
  });
}

void take_module(multiprocessing::detail::Received& received, ModuleBase& module) {
  module.load_state_dict(Codec<StateDict>::take(received), {.assign = true});
  std::vector<std::pair<ModuleBase*, bool>> modes;
  walk(module, false, [&](const Field& field) {
    if (field.is_module()) {
      modes.emplace_back(field.module, Codec<bool>::take(received));
      return;
    }
    const bool requires_grad = Codec<bool>::take(received);
    if (!field.persistent) {
      const Tensor value = Codec<Tensor>::take(received);
      if (field.tensor->defined() && value.defined()) field.tensor->impl().replace_storage(value.impl());
      else *field.tensor = value;
    }
    if (field.tensor->defined() && field.tensor->requires_grad() != requires_grad) field.tensor->requires_grad_(requires_grad);
  });
  // Setting a module's mode sets those below it too; they come later in the list and get their own again.
  for (const auto& [part, mode] : modes) part->train(mode);
}

}  // namespace detail
}  // namespace nn
}  // namespace tandem
