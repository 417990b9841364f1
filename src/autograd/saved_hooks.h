// What is done to the tensors that backward needs while they wait for it: moved to the host, written to a file, computed again.
#pragma once

#include <any>
#include <functional>
#include <utility>

#include "base/ref.h"
#include "tensor/tensor.h"

namespace tandem::autograd {

/// A pair of functions for tensors kept for backward.
class SavedHooks : public Counted<SavedHooks> {
 public:
  std::function<std::any(const Tensor&)> pack;    // of a tensor without history, which it must not change
  std::function<Tensor(const std::any&)> unpack;  // of what `pack` gave: the tensor, of the same sizes, dtype and device

  SavedHooks(std::function<std::any(const Tensor&)> packs, std::function<Tensor(const std::any&)> unpacks)
      : pack(std::move(packs)), unpack(std::move(unpacks)) {}

 private:
  friend class Counted<SavedHooks>;
  void destroy() const { delete this; }
};
/// From now on this thread's operations keep tensors by these; by none where `hooks` is null. Gives those of before.
Ref<SavedHooks> set_saved_hooks(Ref<SavedHooks> hooks);
/// Those of SaveOnCPU.
[[nodiscard]] Ref<SavedHooks> hooks_to_host(bool pin_memory, Site site);

/// In this scope operations of this thread keep for backward what `pack` makes of a tensor, in the tensor's place, and backward computes
/// with what `unpack` makes of that. The innermost scope counts. A change in place of such a tensor is not found out. As
/// torch.autograd.graph.saved_tensors_hooks.
class SavedTensorsHooks {
 public:
  SavedTensorsHooks(std::function<std::any(const Tensor&)> pack, std::function<Tensor(const std::any&)> unpack)
      : SavedTensorsHooks(Ref<SavedHooks>(new SavedHooks(std::move(pack), std::move(unpack)))) {}
  /// The same by hooks that are there; by none where `hooks` is null.
  explicit SavedTensorsHooks(Ref<SavedHooks> hooks) : before_(set_saved_hooks(std::move(hooks))) {}
  ~SavedTensorsHooks() { set_saved_hooks(std::move(before_)); }
  SavedTensorsHooks(const SavedTensorsHooks&) = delete;
  SavedTensorsHooks& operator=(const SavedTensorsHooks&) = delete;

 private:
  Ref<SavedHooks> before_;
};

/// In this scope tensors that backward needs wait in the CPU's memory, so that the GPU's is free for others; backward copies them to where
/// they were. A change in place meanwhile is an error of those that were there already, and harmless else. With pin_memory the copies do
/// not stop the CPU. As torch.autograd.graph.save_on_cpu.
class SaveOnCPU : SavedTensorsHooks {
 public:
  explicit SaveOnCPU(bool pin_memory = false, Site site = Site::here()) : SavedTensorsHooks(hooks_to_host(pin_memory, site)) {}
};

}  // namespace tandem::autograd
