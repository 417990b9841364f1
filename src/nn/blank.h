// Modules that are made only to be given another one's settings and tensors. For the library.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

namespace tandem::nn {

struct ModuleBase;
class Settings;

namespace detail {

/// For the constructor of a module whose parts come later, where its others would make too many.
class Blank {
 public:
  explicit Blank() = default;
};

template <class M>
constexpr bool is_of_library() {
  const std::string_view name = __PRETTY_FUNCTION__;
  return name.find("M = tandem::nn::") != std::string_view::npos || name.find("M = tandem::models::") != std::string_view::npos;
}
template <class B>
B* owner_of(void (B::*)(Settings&));
/// Whether the type names what it was made with: it overrides `settings` itself - one that inherits it may have more members -, or is a
/// layer of the library.
template <class M>
concept Described = requires {
  owner_of(&M::settings);
}
&&requires {
  requires std::is_same_v<decltype(owner_of(&M::settings)), M*> ||
      (is_of_library<M>() && !std::is_same_v<decltype(owner_of(&M::settings)), ModuleBase*>);
};

/// Of types that a worker can make: by the default constructor, or, where they name what they were made with, from ones.
template <class M>
concept Makeable = std::is_constructible_v<M, Blank> || std::default_initializable<M> ||
    (Described<M> &&
     (std::is_constructible_v<M, int> || std::is_constructible_v<M, int, int> || std::is_constructible_v<M, int, int, int>));

template <Makeable M>
M blank() {
  if constexpr (std::is_constructible_v<M, Blank>) return M(Blank());
  else if constexpr (std::default_initializable<M>) return M();
  else if constexpr (std::is_constructible_v<M, int>) return M(1);
  else if constexpr (std::is_constructible_v<M, int, int>) return M(1, 1);
  else return M(1, 1, 1);
}

}  // namespace detail
}  // namespace tandem::nn
