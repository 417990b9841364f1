// std::get of tandem's results of several tensors: programs for libtorch, where they are tuples, write std::get<1>(x.max(1)).
#pragma once

#include <cstddef>
#include <tuple>

#include "tensor/tensor.h"

namespace tandem::detail {

/// A struct that gives itself as a tuple of so many tensors, as std::tie takes it.
template <class R, class... Tensors>
concept GivesTuple = requires(R result) {
  result.operator std::tuple<Tensors...>();
};
template <class R>
concept ResultOfTensors =
    GivesTuple<R, Tensor, Tensor> || GivesTuple<R, Tensor, Tensor, Tensor> || GivesTuple<R, Tensor, Tensor, Tensor, Tensor>;

template <size_t I, class R>
[[nodiscard]] Tensor get_tensor(R result) {
  if constexpr (GivesTuple<R, Tensor, Tensor>) return std::get<I>(result.operator std::tuple<Tensor, Tensor>());
  else if constexpr (GivesTuple<R, Tensor, Tensor, Tensor>) return std::get<I>(result.operator std::tuple<Tensor, Tensor, Tensor>());
  else return std::get<I>(result.operator std::tuple<Tensor, Tensor, Tensor, Tensor>());
}

}  // namespace tandem::detail

// The language keeps namespace std for itself; but `std::get<1>(…)`, qualified, looks nowhere else.
namespace std {  // NOLINT

template <size_t I, tandem::detail::ResultOfTensors R>
tandem::Tensor get(const R& result) {
  return tandem::detail::get_tensor<I>(result);
}

}  // namespace std
