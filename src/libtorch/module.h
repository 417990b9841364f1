// torch::nn::Module: what every model and layer derives from. Its parts are registered by name; children are held by shared pointers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "libtorch/any_value.h"
#include "libtorch/holder.h"
#include "libtorch/ordered_dict.h"
#include "libtorch/traits.h"
#include "nn/module.h"
#include "tensor/tensor.h"

namespace torch::nn {

template <class Derived>
class Cloneable;

/// A model or a layer. Derive, register parameters, buffers and children in the constructor, compute in a `forward` of any signature.
class Module : public tandem::nn::ModuleBase, public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction = std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  Module();
  explicit Module(std::string name);
  // No moving: a copy of the registers costs little, and a virtual base may be assigned more than once.
  Module(const Module&);
  Module& operator=(const Module&);
  ~Module() override;

  /// The name it was made with; else its type's: "torch::nn::LinearImpl".
  std::string name() const override;

  /// A copy with parameters, buffers and children of its own, on `device` where one is given. Error unless Cloneable defines it.
  virtual std::shared_ptr<Module> clone(const std::optional<tandem::Device>& device = std::nullopt) const;

  // --- Parts: this module's own before its children's. Undefined tensors are passed over; names are joined by dots.
  std::vector<tandem::Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, tandem::Tensor> named_parameters(bool recurse = true) const;
  std::vector<tandem::Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, tandem::Tensor> named_buffers(bool recurse = true) const;
  /// This module and all below it. Error for this one where no shared_ptr holds it.
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& name_prefix = std::string(),
                                                                  bool include_self = true) const;
  /// The modules right below this one.
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const { return children_; }

  // --- Calls a function for this module, then for all below it.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix = std::string()) const;

  // --- Modes
  /// Sets the mode of this module and of all below it.
  virtual void train(bool on = true);
  /// train(false).
  void eval();
  virtual bool is_training() const noexcept;

  // --- Moving: parameters and buffers stay the tensors they are and get other memory; their gradients go with them.
  virtual void to(tandem::Device device, tandem::DType dtype, bool non_blocking = false);
  virtual void to(tandem::DType dtype, bool non_blocking = false);
  virtual void to(tandem::Device device, bool non_blocking = false);

  /// Fills the parameters' gradients with zeros; with `set_to_none` forgets them.
  virtual void zero_grad(bool set_to_none = false);

  // --- Types
  /// This module as one of another type, or of a holder's; nullptr where it is none.
  template <class M>
  auto* as() noexcept {
    if constexpr (torch::detail::is_module_holder<M>::value) return dynamic_cast<typename M::ContainedType*>(this);
    else return dynamic_cast<M*>(this);
  }
  template <class M>
  const auto* as() const noexcept {
    if constexpr (torch::detail::is_module_holder<M>::value) return dynamic_cast<const typename M::ContainedType*>(this);
    else return dynamic_cast<const M*>(this);
  }

  // --- Files
  /// Writes parameters, buffers and what is below to an archive, and reads them from one.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);
  /// Whether save() of a parent saves this module too.
  virtual bool is_serializable() const;

  // --- Text
  /// Prints the module without its children.
  virtual void pretty_print(std::ostream& stream) const;
  /// With its children, indented below it.
  friend std::ostream& operator<<(std::ostream& stream, const Module& module) {
    module.print(stream, "");
    return stream;
  }

  // --- Registering. Names must not be empty, have no dot, and stand once; error otherwise.
  /// Gives the parameter as it is held here.
  tandem::Tensor& register_parameter(std::string name, tandem::Tensor tensor, bool requires_grad = true,
                                     tandem::Site site = tandem::Site::here());
  /// State that is no parameter.
  tandem::Tensor& register_buffer(std::string name, tandem::Tensor tensor, tandem::Site = tandem::Site::here());
  /// A child.
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module, tandem::Site = tandem::Site::here()) {
    add_child(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> module, tandem::Site site = tandem::Site::here()) {
    return register_module(std::move(name), module.ptr(), site);
  }
  /// Puts another module in a child's place. Error where there is none of that name.
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module, tandem::Site = tandem::Site::here()) {
    replace_child(name, module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, ModuleHolder<M> module, tandem::Site site = tandem::Site::here()) {
    return replace_module(name, module.ptr(), site);
  }
  /// Takes a child out. Error where there is none of that name.
  void unregister_module(const std::string& name, tandem::Site = tandem::Site::here());

  /// For tandem: names the registered parts.
  void fields(tandem::nn::Fields& f) override;
  /// For tandem: what pretty_print() prints between brackets.
  std::string extra_repr() const override;

 protected:
  // What FORWARD_HAS_DEFAULT_ARGS defines.
  virtual bool _forward_has_default_args();
  virtual unsigned int _forward_num_required_args();
  virtual std::vector<AnyValue> _forward_populate_default_args(std::vector<AnyValue>&&);

  OrderedDict<std::string, tandem::Tensor> parameters_{"Parameter"};

 private:
  template <class Derived>
  friend class Cloneable;
  template <class M, class Arguments>
  friend struct AnyModuleHolder;
  template <class Contained, class... Args>
  friend torch::detail::return_type_of_forward_t<Contained, Args...> detail::call_module(Contained& module, tandem::Site site,
                                                                                         Args&&... args);

  /// `forward(args…)` between the hooks of the module; errors are told the layer.
  template <class Result, class Self, class... Args>
  static Result called(Self& self, tandem::Site site, Args&&... args) {
    const tandem::nn::detail::CallFrame frame(self, site);
    const auto forward = [&](auto&&... given) -> decltype(auto) {
      return torch::detail::forward_at(site, self, std::forward<decltype(given)>(given)...);
    };
    // Hooks replace tensors in copies, so a forward that means to write to its arguments runs without them.
    constexpr bool is_known = torch::detail::has_forward<Self>::value || torch::detail::forward_takes_site<Self>();
    if constexpr (is_known && !std::is_reference_v<Result> && requires { self.forward(std::as_const(args)...); })
      if (self.has_hooks()) return self.hooked(forward, std::as_const(args)...);
    try {
      return forward(std::forward<Args>(args)...);
    } catch (...) {
      self.throw_in_layer();
    }
  }

  /// Forgets the registered parts.
  void clear_parts();
  /// Gives `copy`, whose parts reset() has just made, the values of this module's. Error where they are not as many.
  void copy_parts(Module& copy, const std::optional<tandem::Device>& device) const;
  void copy_tensors(OrderedDict<std::string, tandem::Tensor>& copies, const OrderedDict<std::string, tandem::Tensor>& originals,
                    const char* what, const std::optional<tandem::Device>& device) const;
  void check_count(size_t copies, size_t originals, const char* what) const;
  [[noreturn]] void fail_other_type() const;
  /// Takes over copies of all that `other`, a module of the same type, has.
  virtual void clone_(Module& other, const std::optional<tandem::Device>& device);
  void apply_below(const NamedModulePointerApplyFunction& function, const std::string& prefix) const;
  void move_parts(std::optional<tandem::Device> device, std::optional<tandem::DType> dtype, bool non_blocking);
  void add_child(std::string name, std::shared_ptr<Module> module);
  void replace_child(const std::string& name, std::shared_ptr<Module> module);
  void print(std::ostream& stream, const std::string& indentation) const;
  std::shared_ptr<Module> shared_from_this_checked() const;
  static void check_name(const char* kind, const std::string& name);
  static std::string joined(const std::string& prefix, const std::string& name);
  [[noreturn]] void no_default_args() const;

  OrderedDict<std::string, tandem::Tensor> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};
  std::optional<std::string> name_;
};

/// Saves and loads the module.
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module);
serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module);

template <class Contained, class... Args>
torch::detail::return_type_of_forward_t<Contained, Args...> detail::call_module(Contained& module, tandem::Site site, Args&&... args) {
  using Result = torch::detail::return_type_of_forward_t<Contained, Args...>;
  return Module::called<Result>(module, site, std::forward<Args>(args)...);
}

}  // namespace torch::nn

#include "libtorch/cloneable.h"
