// Cloneable: the base of modules that can be copied with parameters of their own.
#pragma once

#include <memory>
#include <optional>
#include <utility>

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
  std::shared_ptr<Module> clone(const std::optional<tandem::Device>& device = std::nullopt) const override {
    const tandem::NoGradGuard no_grad;
    auto copy = std::make_shared<Derived>(static_cast<const Derived&>(*this));
    copy->parameters_.clear();
    copy->buffers_.clear();
    copy->children_.clear();
    copy->reset();
    take(copy->parameters_, parameters_, "parameters", device);
    take(copy->buffers_, buffers_, "buffers", device);
    check_count(copy->children_.size(), children_.size(), "child modules");
    for (const auto& child : children_) copy->children_[child.key()]->clone_(*child.value(), device);
    return copy;
  }

 private:
  void clone_(Module& other, const std::optional<tandem::Device>& device) final {
    const auto copy = std::dynamic_pointer_cast<Derived>(other.clone(device));
    if (!copy) tandem::fail("[Module.clone] a child is of another type in ", name(), " than in the module that reset() made");
    static_cast<Derived&>(*this) = std::move(*copy);
  }

  void take(OrderedDict<std::string, tandem::Tensor>& copies, const OrderedDict<std::string, tandem::Tensor>& originals, const char* what,
            const std::optional<tandem::Device>& device) const {
    check_count(copies.size(), originals.size(), what);
    const tandem::Site site = tandem::Site::none();
    for (const auto& original : originals) {
      if (!original->defined()) continue;
      const tandem::Device from = original->device(site);
      copies[original.key()].set_data(original->to(device.value_or(from), {.copy = true}, site), site);
    }
  }

  void check_count(size_t copies, size_t originals, const char* what) const {
    if (copies != originals)
      tandem::fail("[Module.clone] The cloned module does not have the same number of ", what,
                   " as the original module after calling reset(): ", copies, ", not ", originals, ". ", name(),
                   " must register them inside reset() and not in the constructor");
  }
};

}  // namespace torch::nn
