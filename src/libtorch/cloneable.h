// Cloneable: the base of modules that can be copied with parameters of their own.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "autograd/autograd.h"
#include "libtorch/module.h"

namespace torch::nn {

/// `struct Net : torch::nn::Cloneable<Net>`: registers all its parts in `reset()`, so that clone() can make them anew and give them the
/// values of this module's.
template <class Derived>
class Cloneable : public virtual Module {
 public:
  using Module::Module;

  /// Makes and registers the parts.
  virtual void reset() = 0;

  /// A copy with parts of its own, on `device` where one is given.
  std::shared_ptr<Module> clone(const std::optional<tandem::Device>& device = std::nullopt) const override;

 private:
  void clone_(Module& other, const std::optional<tandem::Device>& device) final;
};

template <class Derived>
std::shared_ptr<Module> Cloneable<Derived>::clone(const std::optional<tandem::Device>& device) const {
  const tandem::NoGradGuard no_grad;
  std::shared_ptr<Derived> copy(new Derived(static_cast<const Derived&>(*this)));
  copy->clear_parts();
  copy->reset();
  copy_parts(*copy, device);
  return copy;
}

template <class Derived>
void Cloneable<Derived>::clone_(Module& other, const std::optional<tandem::Device>& device) {
  const std::shared_ptr<Module> clone = other.clone(device);
  auto* copy = dynamic_cast<Derived*>(clone.get());
  if (!copy) fail_other_type();
  static_cast<Derived&>(*this) = std::move(*copy);
}

}  // namespace torch::nn
