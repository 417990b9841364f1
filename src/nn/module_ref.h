// A module that a container holds, as its users ask for it: `net[0].weight`.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "nn/any_module.h"

namespace tandem::nn {

/// What `net[0]` gives: the module by reference, wherever a Module& is asked for, and its own `weight` and `bias` by name, as most layers
/// have them, whatever its type. Other members are those of its own type: `net.at<nn::Conv2d>(0).stride`. Must not outlive the container.
class ModuleRef {
 public:
  explicit ModuleRef(Module& module);

  const Tensor weight;  // undefined where the module has none of that name; cannot be assigned to here, as it would change nothing
  const Tensor bias;

  // NOLINTNEXTLINE(google-explicit-constructor): stands for the module
  operator Module&() const { return *module_; }
  /// As its own type: static_cast<nn::Linear&>(net[0]). Error that names the type where it is another.
  template <class M>
  requires(std::derived_from<M, Module> && !std::is_same_v<M, Module>) explicit operator M&() const {
    return detail::typed<M>("ModuleRef", *module_);
  }
  Module& operator*() const { return *module_; }
  Module* operator->() const { return module_; }
  /// Its forward, with its hooks.
  Tensor operator()(const Tensor& x, Site site = Site::here()) const { return (*module_)(x, site); }

  // What follows is the module's own, as nn/module.h has it.
  [[nodiscard]] std::string name() const { return module_->name(); }
  template <class Hook>
  HookHandle register_forward_pre_hook(Hook&& hook) const {
    return module_->register_forward_pre_hook(std::forward<Hook>(hook));
  }
  template <class Hook>
  HookHandle register_forward_hook(Hook&& hook) const {
    return module_->register_forward_hook(std::forward<Hook>(hook));
  }
  [[nodiscard]] bool has_hooks() const { return module_->has_hooks(); }
  [[nodiscard]] std::vector<Tensor> parameters(Site site = Site::here()) const { return module_->parameters(site); }
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_parameters(Site site = Site::here()) const {
    return module_->named_parameters(site);
  }
  [[nodiscard]] std::vector<Tensor> buffers() const { return module_->buffers(); }
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_buffers() const { return module_->named_buffers(); }
  [[nodiscard]] int64_t num_parameters(Site site = Site::here()) const { return module_->num_parameters(site); }
  [[nodiscard]] std::vector<std::pair<std::string, ModuleBase*>> named_modules() const { return module_->named_modules(); }
  [[nodiscard]] std::vector<std::pair<std::string, ModuleBase*>> named_children() const { return module_->named_children(); }
  [[nodiscard]] bool has_uninitialized_params() const { return module_->has_uninitialized_params(); }
  [[nodiscard]] bool training() const { return module_->training(); }
  void train(Flag mode = true) const { module_->train(mode); }
  void eval() const { module_->eval(); }
  template <class F>
  void apply(F&& f) const {
    module_->apply(std::forward<F>(f));
  }
  void requires_grad_(Flag required = true) const { module_->requires_grad_(required); }
  void zero_grad(Flag set_to_none = true, Site site = Site::here()) const { module_->zero_grad(set_to_none, site); }
  void to(const DeviceLike auto& device, Site site = Site::here()) const { module_->to(device, site); }
  void to(ExactlyDType auto dtype, Site site = Site::here()) const { module_->to(dtype, site); }
  void to(const DeviceLike auto& device, ExactlyDType auto dtype, Site site = Site::here()) const { module_->to(device, dtype, site); }
  void cuda(int index = -1, Site site = Site::here()) const { module_->cuda(index, site); }
  void cpu(Site site = Site::here()) const { module_->cpu(site); }
  [[nodiscard]] StateDict state_dict() const { return module_->state_dict(); }
  IncompatibleKeys load_state_dict(const StateDict& state, LoadOptions options = {}, Site site = Site::here()) const {
    return module_->load_state_dict(state, options, site);
  }

 private:
  Module* module_;
};

/// As of the module.
inline std::ostream& operator<<(std::ostream& out, const ModuleRef& module) { return out << *module; }

}  // namespace tandem::nn
