// AnyModule: a module of any type, called with values of any types; NamedAnyModule: one with its name.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/type_name.h"
#include "libtorch/any_value.h"
#include "libtorch/module.h"
#include "libtorch/traits.h"

namespace torch::nn {

/// A module whose type is forgotten.
struct AnyModulePlaceholder {
  virtual ~AnyModulePlaceholder() = default;
  virtual AnyValue forward(std::vector<AnyValue>&& arguments, tandem::Site site) const = 0;
  virtual std::shared_ptr<Module> ptr() const = 0;
  virtual const std::type_info& type() const = 0;
  /// The same over a clone of the module.
  virtual std::shared_ptr<const AnyModulePlaceholder> clone_module(const std::optional<tandem::Device>& device) const = 0;
};

/// A module of type M with what its forward takes.
template <class M, class Arguments>
struct AnyModuleHolder;
template <class M, class... Arguments>
struct AnyModuleHolder<M, torch::detail::TypeList<Arguments...>> final : AnyModulePlaceholder {
  explicit AnyModuleHolder(std::shared_ptr<M> module_) : module(std::move(module_)) {}

  AnyValue forward(std::vector<AnyValue>&& arguments, tandem::Site site) const override {
    Module& base = *module;
    if (base._forward_has_default_args()) {
      const unsigned required = base._forward_num_required_args();
      if (arguments.size() < required || arguments.size() > sizeof...(Arguments))
        fail_count(tandem::str("at least ", required, " argument(s) and at most "), arguments.size(), ".");
      arguments = base._forward_populate_default_args(std::move(arguments));
    } else if (arguments.size() != sizeof...(Arguments)) {
      fail_count("", arguments.size(),
                 arguments.size() > sizeof...(Arguments)
                     ? "."
                     : tandem::str(". If ", type_name(), "'s forward() method has default arguments, please make sure the forward() ",
                                   "method is declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro."));
    }
    return call(arguments, site, std::index_sequence_for<Arguments...>());
  }
  std::shared_ptr<Module> ptr() const override { return module; }
  const std::type_info& type() const override { return typeid(M); }
  std::shared_ptr<const AnyModulePlaceholder> clone_module(const std::optional<tandem::Device>& device) const override {
    return std::make_shared<AnyModuleHolder>(std::dynamic_pointer_cast<M>(module->clone(device)));
  }

  std::shared_ptr<M> module;

 private:
  template <size_t... i>
  AnyValue call(std::vector<AnyValue>& arguments, tandem::Site site, std::index_sequence<i...>) const {
    return AnyValue(detail::call_module<M, Arguments...>(*module, site, static_cast<Arguments&&>(taken<Arguments>(arguments[i], i))...));
  }
  template <class Argument>
  static std::decay_t<Argument>&& taken(AnyValue& value, size_t index) {
    if (auto* argument = value.template try_get<std::decay_t<Argument>>()) return std::move(*argument);
    tandem::fail<tandem::TypeError>("[", type_name(), "] Expected argument #", index, " to be of type ",
                                    tandem::type_name(typeid(Argument)), ", but received value of type ",
                                    tandem::type_name(value.type_info()));
  }
  static std::string type_name() { return tandem::type_name(typeid(M)); }
  [[noreturn]] static void fail_count(const std::string& expected, size_t received, const std::string& end) {
    tandem::fail<tandem::TypeError>("[AnyModule.forward] ", type_name(), "'s forward() method expects ", expected, sizeof...(Arguments),
                                    " argument(s), but received ", received, end);
  }
};

/// Holds a module of any type that has one forward, by shared pointer; copies hold the same module.
class AnyModule {
 public:
  AnyModule() = default;
  template <class M>
  explicit AnyModule(std::shared_ptr<M> module) : content_(held(std::move(module))) {}
  /// A copy of the module, or what was moved from.
  template <class M>
  requires torch::detail::is_module<M>::value explicit AnyModule(M&& module)
      : AnyModule(std::make_shared<std::remove_cvref_t<M>>(std::forward<M>(module))) {}
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& module) : AnyModule(module.ptr()) {}
  template <class M>
  AnyModule& operator=(std::shared_ptr<M> module) {
    content_ = held(std::move(module));
    return *this;
  }

  /// One with a clone of the module.
  AnyModule clone(std::optional<tandem::Device> device = std::nullopt) const;

  /// Calls forward with values of exactly the types that it takes.
  template <class A>
  AnyValue any_forward(A&& argument, tandem::Site site = tandem::Site::here()) {
    return call(site, std::forward<A>(argument));
  }
  template <class... Args>
  requires(sizeof...(Args) != 1) AnyValue any_forward(Args&&... arguments) {
    return call(tandem::Site::none(), std::forward<Args>(arguments)...);
  }
  /// The same where the type of the result is known.
  template <class Result = tandem::Tensor, class A>
  Result forward(A&& argument, tandem::Site site = tandem::Site::here()) {
    return call(site, std::forward<A>(argument)).template get<Result>();
  }
  template <class Result = tandem::Tensor, class... Args>
  requires(sizeof...(Args) != 1) Result forward(Args&&... arguments) {
    return call(tandem::Site::none(), std::forward<Args>(arguments)...).template get<Result>();
  }

  /// The module as a T; error where it is not exactly that.
  template <class T>
  requires torch::detail::is_module<T>::value T& get() { return *typed<T>("get"); }
  template <class T>
  requires torch::detail::is_module<T>::value const T& get() const { return *typed<T>("get"); }
  /// A holder of the module: `any.get<Linear>()`.
  template <class T, class Contained = typename T::ContainedType>
  T get() const {
    return T(typed<Contained>("get"));
  }
  std::shared_ptr<Module> ptr() const;
  template <class T>
  requires torch::detail::is_module<T>::value std::shared_ptr<T> ptr()
  const { return typed<T>("ptr"); }
  /// The module's type.
  const std::type_info& type_info() const;
  bool is_empty() const noexcept;

 private:
  template <class M>
  static std::shared_ptr<const AnyModulePlaceholder> held(std::shared_ptr<M> module) {
    static_assert(torch::detail::is_module<M>::value, "AnyModule holds modules: derive from torch::nn::Module");
    static_assert(torch::detail::has_forward<M>::value,
                  "AnyModule holds modules with one forward() that is no template: a Sequential in another one needs a type derived from "
                  "SequentialImpl with a forward of its own");
    using Forward = torch::detail::Signature<decltype(&M::forward)>;
    static_assert(takes_no_references(typename Forward::Arguments()), "AnyModule: forward must not take references; take pointers");
    static_assert(!std::is_void_v<typename Forward::Result>, "AnyModule: forward must return a value");
    if (!module) tandem::fail("[AnyModule] the pointer holds no module");
    return std::make_shared<AnyModuleHolder<M, typename Forward::Arguments>>(std::move(module));
  }
  template <class... Ts>
  static constexpr bool takes_no_references(torch::detail::TypeList<Ts...>) {
    return torch::detail::check_not_lvalue_references<Ts...>();
  }
  template <class... Args>
  AnyValue call(tandem::Site site, Args&&... arguments) const {
    const AnyModulePlaceholder& module = content("forward");
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Args));
    (add(values, std::forward<Args>(arguments)), ...);
    return module.forward(std::move(values), site);
  }
  template <class A>
  static void add(std::vector<AnyValue>& values, A&& argument) {
    if constexpr (std::is_same_v<std::decay_t<A>, AnyValue>) values.push_back(std::forward<A>(argument));
    else values.emplace_back(std::forward<A>(argument));
  }
  const AnyModulePlaceholder& content(const char* op) const;
  template <class T>
  std::shared_ptr<T> typed(const char* op) const {
    const AnyModulePlaceholder& module = content(op);
    if (module.type() == typeid(T)) return std::dynamic_pointer_cast<T>(module.ptr());
    tandem::fail<tandem::TypeError>("[AnyModule] Attempted to cast module of type ", tandem::type_name(module.type()), " to type ",
                                    tandem::type_name(typeid(T)));
  }

  std::shared_ptr<const AnyModulePlaceholder> content_;
};

/// A module of any type and its name, for a Sequential whose modules have names.
class NamedAnyModule {
 public:
  template <class M>
  NamedAnyModule(std::string name, std::shared_ptr<M> module) : NamedAnyModule(std::move(name), AnyModule(std::move(module))) {}
  template <class M>
  requires torch::detail::is_module<M>::value NamedAnyModule(std::string name, M&& module)
      : NamedAnyModule(std::move(name), AnyModule(std::forward<M>(module))) {}
  template <class M>
  NamedAnyModule(std::string name, const ModuleHolder<M>& module) : NamedAnyModule(std::move(name), AnyModule(module)) {}
  NamedAnyModule(std::string name, AnyModule module);

  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace torch::nn
