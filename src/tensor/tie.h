// What lets a result of several tensors be given to std::tie, and be a std::tuple.
#pragma once

#include <tuple>
#include <type_traits>

namespace tandem::detail {

/// `tensor` as an element of a tuple that results are assigned to: itself, or nothing where that is std::ignore.
template <class Element, class Tensor>
[[nodiscard]] Element tied(Tensor& tensor) {
  if constexpr (std::is_same_v<Element, decltype((std::ignore))>) return std::ignore;
  else return tensor;
}

}  // namespace tandem::detail
