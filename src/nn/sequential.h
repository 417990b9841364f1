// Modules one after another.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "nn/any_module.h"
#include "nn/module_ref.h"

namespace tandem::nn {

namespace detail {
template <class M>
concept IsFunction = !std::derived_from<std::remove_cvref_t<M>, ModuleBase> &&
                     (std::is_function_v<std::remove_pointer_t<std::remove_cvref_t<M>>> || std::is_invocable_v<M&, const Tensor&>);
}

/// Each module's output is the next one's input. Holds its children by value; copying it shares their parameters. Neighbours that have a
/// common kernel run as one: a Linear followed by a ReLU, or, where no gradient is recorded, by a GELU("tanh"). As torch.nn.Sequential.
struct Sequential : Module {
  Sequential() = default;
  /// Holds copies of the modules; each gets what the one before gives.
  template <class... Ms>
  requires(sizeof...(Ms) > 0 && (IsTensorModule<Ms> && ...) &&
           !(sizeof...(Ms) == 1 && (std::is_same_v<std::remove_cvref_t<Ms>, Sequential> && ...))) explicit Sequential(Ms&&... modules) {
    children_.reserve(sizeof...(Ms));
    (push_back(std::forward<Ms>(modules), Site::none()), ...);
  }

  /// For those who put a function between the modules.
  template <class... Ms>
  requires(detail::IsFunction<Ms> || ...) explicit Sequential(Ms&&...) {
    static_assert(sizeof...(Ms) == 0, "nn::Sequential takes modules from tensor to tensor: nn::ReLU() and not the function td::relu");
  }

  /// For those who put a module with another signature among them.
  template <class... Ms>
  requires((IsModule<Ms> && !IsTensorModule<Ms>) || ...) explicit Sequential(Ms&&...) {
    static_assert(sizeof...(Ms) == 0, "nn::Sequential takes modules from tensor to tensor: call a nn::Callable in a forward of your own");
  }

  /// Adds a module at the end.
  void push_back(AnyModule module, Site = Site::here());
  [[nodiscard]] size_t size() const { return children_.size(); }
  /// Child `i`; negative numbers count from the end. IndexError where there is none.
  [[nodiscard]] Module& at(int64_t i, Site = Site::here()) const;
  /// The same as its own type. Error that names the child's type where it is another.
  template <class M>
  [[nodiscard]] M& at(int64_t i, Site site = Site::here()) const {
    Module& child = at(i, site);
    if (auto* typed = dynamic_cast<M*>(&child)) return *typed;
    fail("[Sequential.at] child ", i, " is a ", child.name(), ", not of the type asked for");
  }
  /// Child `i`, and its weight and bias by name: `net[0].weight.data().device()`.
  [[nodiscard]] ModuleRef operator[](const At& i) const { return ModuleRef(at(i.index, i.site)); }

  /// Whether child `i` and the one behind it always run as one where nobody listens to either.
  [[nodiscard]] bool runs_with_next(size_t i) const;

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;

 private:
  // Found out once: a type's name is not to be asked for at each call.
  enum class Kind : uint8_t { Other, Linear, BatchNorm, Relu, Gelu };
  struct Child {
    AnyModule module;
    Kind kind;
  };
  /// The activation behind child `i` that may run with it, else Other.
  [[nodiscard]] Kind activation_of(size_t i) const;

  std::vector<Child> children_;
};

}  // namespace tandem::nn
