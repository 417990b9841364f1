// ModuleHolder: a module by shared pointer that is made and called like a value, and the macros that name one.
#pragma once

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/site.h"
#include "libtorch/traits.h"

namespace torch::serialize {
class OutputArchive;
class InputArchive;
}  // namespace torch::serialize

namespace torch::nn {

namespace detail {
/// `module.forward(args…)` as a call of the module. In module.h.
template <class Contained, class... Args>
torch::detail::return_type_of_forward_t<Contained, Args...> call_module(Contained& module, tandem::Site site, Args&&... args);
[[noreturn]] void fail_empty_holder();
}  // namespace detail

/// Holds a module by shared pointer: copies hold the same one. Made from the arguments of the module's constructor; `= nullptr` holds none.
template <class Contained>
class ModuleHolder : torch::detail::ModuleHolderIndicator {
 public:
  using ContainedType = Contained;
  using Impl = Contained;

  /// A module made without arguments; none where it can't be.
  ModuleHolder() : impl_(made()) {
    static_assert(std::is_default_constructible_v<Contained>,
                  "this module has no constructor without arguments: write `= nullptr` to hold none yet");
  }
  ModuleHolder(std::nullptr_t) : impl_(nullptr) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}
  /// A module made from these arguments.
  template <class A>
  requires(!torch::detail::is_module_holder_of<A, Contained>::value &&
           !std::convertible_to<A&&, std::shared_ptr<Contained>>) explicit ModuleHolder(A&& a, tandem::Site site = tandem::Site::here())
      : impl_(torch::detail::new_at<Contained>(site, std::forward<A>(a))) {}
  template <class A, class B>
  explicit ModuleHolder(A&& a, B&& b, tandem::Site site = tandem::Site::here())
      : impl_(torch::detail::new_at<Contained>(site, std::forward<A>(a), std::forward<B>(b))) {}
  template <class A, class B, class C>
  explicit ModuleHolder(A&& a, B&& b, C&& c, tandem::Site site = tandem::Site::here())
      : impl_(torch::detail::new_at<Contained>(site, std::forward<A>(a), std::forward<B>(b), std::forward<C>(c))) {}
  template <class A, class B, class C, class D, class... More>
  explicit ModuleHolder(A&& a, B&& b, C&& c, D&& d, More&&... more)
      : impl_(torch::detail::new_at<Contained>(tandem::Site::none(), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
                                               std::forward<D>(d), std::forward<More>(more)...)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return impl_ == nullptr; }

  /// The module. Error where it holds none.
  Contained* get() { return ptr().get(); }
  const Contained* get() const { return ptr().get(); }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  const std::shared_ptr<Contained>& ptr() const {
    if (!impl_) detail::fail_empty_holder();
    return impl_;
  }

  /// The module's forward. Errors name the layer, and the line of this call where it has up to three arguments.
  template <class C = Contained>
  auto operator()() -> torch::detail::return_type_of_forward_t<C> {
    return detail::call_module<C>(*get(), tandem::Site::none());
  }
  template <class A>
  auto operator()(A&& a, tandem::Site site = tandem::Site::here()) -> torch::detail::return_type_of_forward_t<Contained, A> {
    return detail::call_module<Contained, A>(*get(), site, std::forward<A>(a));
  }
  template <class A, class B>
  auto operator()(A&& a, B&& b, tandem::Site site = tandem::Site::here()) -> torch::detail::return_type_of_forward_t<Contained, A, B> {
    return detail::call_module<Contained, A, B>(*get(), site, std::forward<A>(a), std::forward<B>(b));
  }
  template <class A, class B, class C>
  auto operator()(A&& a, B&& b, C&& c, tandem::Site site = tandem::Site::here())
      -> torch::detail::return_type_of_forward_t<Contained, A, B, C> {
    return detail::call_module<Contained, A, B, C>(*get(), site, std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
  }
  template <class A, class B, class C, class D, class... More>
  auto operator()(A&& a, B&& b, C&& c, D&& d, More&&... more) -> torch::detail::return_type_of_forward_t<Contained, A, B, C, D, More...> {
    return detail::call_module<Contained, A, B, C, D, More...>(*get(), tandem::Site::none(), std::forward<A>(a), std::forward<B>(b),
                                                               std::forward<C>(c), std::forward<D>(d), std::forward<More>(more)...);
  }

  /// The module's own brackets.
  template <class Arg>
  decltype(auto) operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 protected:
  std::shared_ptr<Contained> impl_;

 private:
  static std::shared_ptr<Contained> made() {
    if constexpr (std::is_default_constructible_v<Contained>)
      return std::shared_ptr<Contained>(torch::detail::new_at<Contained>(tandem::Site::none()));
    else return nullptr;
  }
};

/// As the module is printed.
template <class M>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<M>& module) {
  return stream << *module;
}
/// Saves and loads the module.
template <class M>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const ModuleHolder<M>& module) {
  return archive << module.ptr();
}
template <class M>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<M>& module) {
  return archive >> module.ptr();
}

}  // namespace torch::nn

/// Names a holder of modules of type ImplType.
#define TORCH_MODULE_IMPL(Name, ImplType)                              \
  class Name : public torch::nn::ModuleHolder<ImplType> { /* NOLINT */ \
   public:                                                             \
    using torch::nn::ModuleHolder<ImplType>::ModuleHolder;             \
    using Impl [[maybe_unused]] = ImplType;                            \
  }

/// Names a holder of NameImpl.
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)

/// The same of this library's layers, within torch::nn. An alias: what a program does not use, its compiler does not instantiate.
#define TANDEM_TORCH_LAYER(Name) using Name = ModuleHolder<Name##Impl>
