// A module around another one, that is called like it. For the library.
#pragma once

#include <concepts>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nn/borrowed.h"
#include "nn/module.h"

namespace tandem::parallel::detail {

template <class M>
concept FromTensorToTensor = nn::IsTensorModule<M> && requires(M& module, const Tensor& x) {
  { module(x) } -> std::same_as<Tensor>;
};

/// What is around a module, named "module" among its parts and not owned. Derived has `before(site)` and `after(outputs, site)`, which are
/// called around each call, and is a nn::Module where M maps a tensor to a tensor.
template <class Derived, class M, bool = FromTensorToTensor<M>>
class Wrapper : public nn::Module {
 public:
  Wrapper(M& module, Site site) : module_(module), site_(site) {}
  void fields(nn::Fields& f) override { f("module", module()); }
  [[nodiscard]] M& module() const { return module_.get(*this); }

  Tensor forward(const Tensor& x) override {
    const Site site = nn::detail::call_site();
    nn::Module& own = module();
    return around(site, [&] { return own(x, site); });
  }
  using nn::Module::operator();
  /// The module's own call operator with further arguments, where it has one.
  template <class First, class Second, class... Rest>
  requires std::invocable<M&, First, Second, Rest...>
  auto operator()(First&& first, Second&& second, Rest&&... rest) {
    M& own = module();
    const auto call = [&](auto&&... given) { return around(site_, [&] { return own(std::forward<decltype(given)>(given)...); }); };
    return this->hooked(call, std::forward<First>(first), std::forward<Second>(second), std::forward<Rest>(rest)...);
  }

 private:
  template <class F>
  auto around(Site site, F&& call) {
    auto& self = static_cast<Derived&>(*this);
    self.before(site);
    auto result = call();
    self.after(nn::detail::tensors_of(result), site);
    return result;
  }

  nn::detail::Borrowed<M> module_;
  Site site_;  // where the wrapper was made
};

template <class Derived, class M>
class Wrapper<Derived, M, false> : public nn::Callable<Derived> {
 public:
  Wrapper(M& module, Site site) : module_(module), site_(site) {}
  void fields(nn::Fields& f) override { f("module", module()); }
  [[nodiscard]] M& module() const { return module_.get(*this); }

  template <class... Args>
  auto forward(Args&&... args) {
    M& own = module();
    auto& self = static_cast<Derived&>(*this);
    self.before(site_);
    auto result = own(std::forward<Args>(args)...);
    if constexpr (nn::detail::holds_tensors<decltype(result)>) self.after(nn::detail::tensors_of(result), site_);
    else self.after(std::vector<Tensor>(), site_);
    return result;
  }

 private:
  nn::detail::Borrowed<M> module_;
  Site site_;
};

}  // namespace tandem::parallel::detail
