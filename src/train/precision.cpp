#include "train/precision.h"

#include <unordered_map>

#include "nn/batch_norm.h"
#include "nn/walk.h"

namespace tandem::train::detail {

nn::AnyModule in_precision(const nn::Module& module, nn::Copier copier, DType dtype, Site site) {
  nn::AnyModule copy = copier(module);
  std::unordered_map<const TensorImpl*, Tensor> cast;
  nn::detail::walk_copy("Trainer.fit", module, copy.get(), [&](const nn::detail::Field& from, const nn::detail::Field& to) {
    if (!from.is_parameter() || !from.tensor->defined() || !from.tensor->is_floating_point()) return;
    if (dynamic_cast<const nn::NormBase*>(from.module)) return;
    Tensor& there = cast[&from.tensor->impl()];
    if (!there.defined()) there = from.tensor->to(dtype, {}, site);
    *to.tensor = there;
  });
  return copy;
}

AutocastGuard mixed_precision(const TrainerPrecision& precision, Device device, Site site) {
  const std::optional<DType> dtype = precision.mixed();
  return autocast(device, {.dtype = dtype, .enabled = dtype || is_autocast_enabled(device)}, site);
}

}  // namespace tandem::train::detail
