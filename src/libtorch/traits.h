// What templates ask of types: whether one is a module or a holder of one, and what its forward takes and gives.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/site.h"
#include "tensor/tensor.h"

namespace torch::nn {
class Module;
}

namespace torch {

template <bool... values>
using all_of = std::bool_constant<(values && ...)>;
template <bool... values>
using any_of = std::bool_constant<(values || ...)>;
template <bool condition, class T = void>
using enable_if_t = std::enable_if_t<condition, T>;
template <bool condition, class T = void>
using disable_if_t = std::enable_if_t<!condition, T>;
template <class T>
using decay_t = std::decay_t<T>;
using std::make_unique;

/// Calls `function` with each of the values, one after another.
template <class Function, class... Ts>
Function apply(Function function, Ts&&... values) {
  (function(std::forward<Ts>(values)), ...);
  return function;
}

}  // namespace torch

namespace torch::detail {

/// Whether T has one `forward` that is no template.
template <class T>
    struct has_forward : std::bool_constant < requires {
  &T::forward;
} > {};

/// Whether no type is a reference that may be written through.
template <class... Ts>
constexpr bool check_not_lvalue_references() {
  return ((!std::is_lvalue_reference_v<Ts> || std::is_const_v<std::remove_reference_t<Ts>>)&&...);
}

template <class M>
using is_module = std::is_base_of<nn::Module, std::decay_t<M>>;
template <class M, class T = void>
using enable_if_module_t = std::enable_if_t<is_module<M>::value, T>;

/// What every ModuleHolder derives from.
struct ModuleHolderIndicator {};
template <class T>
using is_module_holder = std::is_base_of<ModuleHolderIndicator, std::decay_t<T>>;
template <class T>
using disable_if_module_holder_t = std::enable_if_t<!is_module_holder<T>::value>;
/// Whether T holds a module of type C.
template <class T, class C>
struct is_module_holder_of : std::false_type {};
template <class T, class C>
requires is_module_holder<T>::value struct is_module_holder_of<T, C>
    : std::is_same<typename std::decay_t<T>::ContainedType, std::decay_t<C>> {
};

/// What C's forward gives for such arguments; void where it has none.
template <class C, class... Args>
struct return_type_of_forward {
  using type = void;
};
template <class C, class... Args>
requires(has_forward<C>::value ||
         requires(C & module, Args&&... args) { module.forward(std::forward<Args>(args)...); }) struct return_type_of_forward<C, Args...> {
  using type = decltype(std::declval<C&>().forward(std::declval<Args>()...));
};
template <class C, class... Args>
using return_type_of_forward_t = typename return_type_of_forward<C, Args...>::type;

template <class... Ts>
struct TypeList {};

/// A list of types without a Site at its end.
template <class Done, class... Ts>
struct WithoutSite;
template <class... Done>
struct WithoutSite<TypeList<Done...>> {
  using List = TypeList<Done...>;
  static constexpr bool had_site = false;
};
template <class... Done>
struct WithoutSite<TypeList<Done...>, tandem::Site> {
  using List = TypeList<Done...>;
  static constexpr bool had_site = true;
};
template <class... Done, class First, class... Rest>
struct WithoutSite<TypeList<Done...>, First, Rest...> : WithoutSite<TypeList<Done..., First>, Rest...> {};

/// Of a pointer to a member function: its class, what it gives and takes, without the Site that may stand last.
template <class F>
struct Signature;
template <class R, class C, class... Args>
struct Signature<R (C::*)(Args...)> {
  using Result = R;
  using Class = C;
  using Arguments = typename WithoutSite<TypeList<>, Args...>::List;
  static constexpr bool takes_site = WithoutSite<TypeList<>, Args...>::had_site;
};
template <class R, class C, class... Args>
struct Signature<R (C::*)(Args...) const> : Signature<R (C::*)(Args...)> {};
template <class R, class C, class... Args>
struct Signature<R (C::*)(Args...) noexcept> : Signature<R (C::*)(Args...)> {};
template <class R, class C, class... Args>
struct Signature<R (C::*)(Args...) const noexcept> : Signature<R (C::*)(Args...)> {};

/// Whether C's one forward ends in a Site; of several, or of a template, C says so itself by `using ForwardTakesSite = C;`.
template <class C>
constexpr bool forward_takes_site() {
  if constexpr (has_forward<C>::value) return Signature<decltype(&C::forward)>::takes_site;
  else if constexpr (requires { typename C::ForwardTakesSite; }) return std::is_same_v<typename C::ForwardTakesSite, C>;
  else return false;
}

template <size_t count, class List>
struct Dropped {
  using type = List;
};
template <size_t count, class First, class... Rest>
requires(count > 0) struct Dropped<count, TypeList<First, Rest...>> : Dropped<count - 1, TypeList<Rest...>> {
};
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
/// Whether a layer's parameter that is not given is an empty one.
template <class T>
inline constexpr bool is_empty_by_default = std::is_same_v<std::decay_t<T>, tandem::Tensor> || is_optional<std::decay_t<T>>;

/// The same with empty values for the parameters of these types, which are not given.
template <class... Omitted, class C, class... Args>
decltype(auto) forward_filled(TypeList<Omitted...>, tandem::Site site, C& module, Args&&... args) {
  if constexpr ((is_empty_by_default<Omitted> && ...)) return module.forward(std::forward<Args>(args)..., std::decay_t<Omitted>()..., site);
  else return module.forward(std::forward<Args>(args)...);
}
/// `module.forward(args…)`, with the caller's line where forward takes one at its end.
template <class C, class... Args>
decltype(auto) forward_at(tandem::Site site, C& module, Args&&... args) {
  if constexpr (!forward_takes_site<C>()) return module.forward(std::forward<Args>(args)...);
  else if constexpr (has_forward<C>::value)
    return forward_filled(typename Dropped<sizeof...(Args), typename Signature<decltype(&C::forward)>::Arguments>::type(), site, module,
                          std::forward<Args>(args)...);
  else if constexpr (requires { module.forward(std::forward<Args>(args)..., site); })
    return module.forward(std::forward<Args>(args)..., site);
  else return module.forward(std::forward<Args>(args)...);
}

/// A type that no constructor asks for: what takes one takes anything.
struct Unlikely {};
/// `new C(args…)`, with the caller's line where a constructor takes one behind these arguments.
template <class C, class... Args>
C* new_at(tandem::Site site, Args&&... args) {
  if constexpr (std::is_constructible_v<C, Args..., tandem::Site> && !std::is_constructible_v<C, Args..., Unlikely>)
    return new C(std::forward<Args>(args)..., site);
  else return new C(std::forward<Args>(args)...);
}

}  // namespace torch::detail
