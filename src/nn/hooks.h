// Functions called before and after a module's forward, and what they see of its arguments and results.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace tandem::nn {

struct ModuleBase;

/// Called before a module's forward with the tensors among its arguments, in their order; undefined where one was not given. May replace
/// them. Containers of tensors count as their tensors, and so does a struct that names them in a member
/// `template <class F> void each_tensor(F&& f) { f(mean); f(deviation); }`. Other arguments are passed over.
using ForwardPreHook = std::function<void(ModuleBase& module, std::span<Tensor> inputs)>;
/// Called after a module's forward, with the tensors among its results, too; may replace those.
using ForwardHook = std::function<void(ModuleBase& module, std::span<const Tensor> inputs, std::span<Tensor> outputs)>;

namespace detail {

/// A module's hooks, in the order of registration.
struct Hooks {
  std::vector<std::pair<int64_t, ForwardPreHook>> before;
  std::vector<std::pair<int64_t, ForwardHook>> after;
  int64_t next = 0;
};

struct IgnoreTensor {
  template <class T>
  void operator()(T&) const {}
};

template <class T>
inline constexpr bool holds_tensors = std::is_same_v<T, Tensor> || requires(T& t) {
  t.each_tensor(IgnoreTensor());
};
template <class T>
inline constexpr bool holds_tensors<std::vector<T>> = holds_tensors<T>;
template <class T, size_t n>
inline constexpr bool holds_tensors<std::array<T, n>> = holds_tensors<T>;
template <class T>
inline constexpr bool holds_tensors<std::optional<T>> = holds_tensors<T>;
template <class... Ts>
inline constexpr bool holds_tensors<std::tuple<Ts...>> = (holds_tensors<Ts> || ...);
template <class A, class B>
inline constexpr bool holds_tensors<std::pair<A, B>> = holds_tensors<A> || holds_tensors<B>;

/// Calls `f(Tensor&)` for each tensor in `part`, in order.
template <class T, class F>
void visit_tensors(T& part, F& f) {
  const auto deeper = [&](auto& inner) { visit_tensors(inner, f); };
  if constexpr (!holds_tensors<T>) return;
  else if constexpr (std::is_same_v<T, Tensor>) f(part);
  else if constexpr (requires { part.each_tensor(deeper); }) part.each_tensor(deeper);
  else if constexpr (requires { part.has_value(); }) part ? deeper(*part) : void();
  else if constexpr (requires { part.begin(); })
    for (auto& inner : part) deeper(inner);
  else std::apply([&](auto&... inner) { (deeper(inner), ...); }, part);
}

template <class T>
std::vector<Tensor> tensors_of(T& part) {
  std::vector<Tensor> tensors;
  const auto take = [&](const Tensor& tensor) { tensors.push_back(tensor); };
  visit_tensors(part, take);
  return tensors;
}
template <class T>
void put_tensors(T& part, const std::vector<Tensor>& tensors) {
  auto next = tensors.begin();
  const auto put = [&](Tensor& tensor) { tensor = *next++; };
  visit_tensors(part, put);
}

/// An argument while hooks run: a copy where a hook may replace tensors in it; what `forward` is to write to stays the caller's own.
template <class Arg>
using HeldArgument = std::conditional_t<holds_tensors<std::decay_t<Arg>> &&
                                            !(std::is_lvalue_reference_v<Arg> && !std::is_const_v<std::remove_reference_t<Arg>>),
                                        std::decay_t<Arg>, Arg&&>;

}  // namespace detail

/// Takes a hook out again; letting go of the handle does not.
class HookHandle {
 public:
  HookHandle() = default;
  /// Nothing where the hook is gone already.
  void remove();

 private:
  friend struct ModuleBase;
  HookHandle(std::weak_ptr<detail::Hooks> hooks, int64_t id) : hooks_(std::move(hooks)), id_(id) {}
  std::weak_ptr<detail::Hooks> hooks_;
  int64_t id_ = 0;
};

}  // namespace tandem::nn
