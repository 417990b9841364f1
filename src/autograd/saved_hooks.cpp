#include "autograd/saved_hooks.h"

#include "autograd/saved.h"
#include "ops/creation.h"

namespace tandem::autograd {
namespace {

/// A tensor on the host, and where it is to go. What was there already is the tensor's own memory, and may be changed meanwhile.
struct OnHost {
  SavedTensor values;
  Device device;
};

}  // namespace

Ref<SavedHooks> set_saved_hooks(Ref<SavedHooks> hooks) {
  SavedHooks* const before = std::exchange(detail::saved_hooks, hooks.detach());
  Ref<SavedHooks> given(before);
  if (before) before->release();  // the count that saved_hooks held
  return given;
}

Ref<SavedHooks> hooks_to_host(bool pin_memory, Site site) {
  return Ref<SavedHooks>(new SavedHooks(
      [pin_memory, site](const Tensor& x) -> std::any {
        if (!x.is_cuda() || !pin_memory) return OnHost{saved(x.cpu(site)), x.device()};
        const Tensor values = empty(x.sizes(), {.dtype = x.dtype(), .pin_memory = true}, site);
        values.copy_(x, true, site);
        return OnHost{saved(values), x.device()};
      },
      [pin_memory, site](const std::any& kept) {
        const auto& [values, device] = std::any_cast<const OnHost&>(kept);
        return values.get().to(device, {.non_blocking = pin_memory}, site);
      }));
}

}  // namespace tandem::autograd
