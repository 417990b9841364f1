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

  /// The module.
  operator Module&() const { return *module_; }  // NOLINT(google-explicit-constructor): stands for it
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
  /// Its type's name.
  [[nodiscard]] std::string name() const { return module_->name(); }
  /// Has a function called before each call of it.
  template <class Hook>
  HookHandle register_forward_pre_hook(Hook&& hook) const {
    return module_->register_forward_pre_hook(std::forward<Hook>(hook));
  }
  /// Has a function called after each call of it.
  template <class Hook>
  HookHandle register_forward_hook(Hook&& hook) const {
    return module_->register_forward_hook(std::forward<Hook>(hook));
  }
  /// Whether any hook is registered on it.
  [[nodiscard]] bool has_hooks() const { return module_->has_hooks(); }
  /// Its parameters and those of all below it.
  [[nodiscard]] std::vector<Tensor> parameters(Site site = Site::here()) const { return module_->parameters(site); }
  /// The same with their names.
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_parameters(Site site = Site::here()) const {
    return module_->named_parameters(site);
  }
  /// Its buffers and those of all below it.
  [[nodiscard]] std::vector<Tensor> buffers() const { return module_->buffers(); }
  /// The same with their names.
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_buffers() const { return module_->named_buffers(); }
  /// How many numbers its parameters have together.
  [[nodiscard]] int64_t num_parameters(Site site = Site::here()) const { return module_->num_parameters(site); }
  /// The module itself and all below it.
  [[nodiscard]] std::vector<std::pair<std::string, ModuleBase*>> named_modules() const { return module_->named_modules(); }
  /// The modules right below it.
  [[nodiscard]] std::vector<std::pair<std::string, ModuleBase*>> named_children() const { return module_->named_children(); }
  /// Whether some parameter waits for the first forward.
  [[nodiscard]] bool has_uninitialized_params() const { return module_->has_uninitialized_params(); }
  /// Its mode.
  [[nodiscard]] bool training() const { return module_->training(); }
  /// Sets its mode, and that of all below it.
  void train(Flag mode = true) const { module_->train(mode); }
  /// train(false).
  void eval() const { module_->eval(); }
  /// Calls `f` for all modules below it, then for itself.
  template <class F>
  void apply(F&& f) const {
    module_->apply(std::forward<F>(f));
  }
  /// Asks for gradients of all its parameters, or for none.
  void requires_grad_(Flag required = true) const { module_->requires_grad_(required); }
  /// Forgets its parameters' gradients.
  void zero_grad(Flag set_to_none = true, Site site = Site::here()) const { module_->zero_grad(set_to_none, site); }
  /// To a device, such as "cuda:1".
  void to(const DeviceLike auto& device, Site site = Site::here()) const { module_->to(device, site); }
  /// Floating-point parameters and buffers only.
  void to(ExactlyDType auto dtype, Site site = Site::here()) const { module_->to(dtype, site); }
  /// Both.
  void to(const DeviceLike auto& device, ExactlyDType auto dtype, Site site = Site::here()) const { module_->to(device, dtype, site); }
  /// To GPU `index`, or to the current one.
  void cuda(int index = -1, Site site = Site::here()) const { module_->cuda(index, site); }
  /// To the CPU.
  void cpu(Site site = Site::here()) const { module_->cpu(site); }
  /// Its parameters and persistent buffers by name.
  [[nodiscard]] StateDict state_dict() const { return module_->state_dict(); }
  /// Takes values over by name.
  IncompatibleKeys load_state_dict(const StateDict& state, LoadOptions options = {}, Site site = Site::here()) const {
    return module_->load_state_dict(state, options, site);
  }

 private:
  Module* module_;
};

/// As of the module.
inline std::ostream& operator<<(std::ostream& out, const ModuleRef& module) { return out << *module; }

}  // namespace tandem::nn
