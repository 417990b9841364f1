// std::get of tandem's results of several tensors: programs for libtorch, where they are tuples, write std::get<1>(x.max(1)).
#pragma once

#include <cstddef>
#include <tuple>

#include "ops/attention.h"
#include "ops/counting.h"
#include "ops/linalg.h"
#include "ops/recurrent.h"
#include "ops/reduce.h"
#include "tensor/tensor.h"

namespace tandem::detail {

/// The results that are structs of Tensors alone, with how many there are.
template <class T>
inline constexpr size_t kTensorsOf = 0;
template <>
inline constexpr size_t kTensorsOf<ValuesIndices> = 2;
template <>
inline constexpr size_t kTensorsOf<MinMax> = 2;
template <>
inline constexpr size_t kTensorsOf<VarMean> = 2;
template <>
inline constexpr size_t kTensorsOf<StdMean> = 2;
template <>
inline constexpr size_t kTensorsOf<Unique> = 3;
template <>
inline constexpr size_t kTensorsOf<RnnResult> = 2;
template <>
inline constexpr size_t kTensorsOf<LstmResult> = 3;
template <>
inline constexpr size_t kTensorsOf<LstmState> = 2;
template <>
inline constexpr size_t kTensorsOf<MultiHeadAttentionResult> = 2;
template <>
inline constexpr size_t kTensorsOf<linalg::EighResult> = 2;
template <>
inline constexpr size_t kTensorsOf<linalg::QrResult> = 2;
template <>
inline constexpr size_t kTensorsOf<linalg::SvdResult> = 3;
template <>
inline constexpr size_t kTensorsOf<linalg::SlogdetResult> = 2;
template <>
inline constexpr size_t kTensorsOf<linalg::LstsqResult> = 4;

template <class T>
concept ResultOfTensors = kTensorsOf<T> >
0;

template <size_t I, class R>
[[nodiscard]] Tensor get_tensor(const R& result) {
  static_assert(I < kTensorsOf<R>, "the result has fewer tensors");
  if constexpr (kTensorsOf<R> == 2) {
    const auto& [a, b] = result;
    return std::get<I>(std::tie(a, b));
  } else if constexpr (kTensorsOf<R> == 3) {
    const auto& [a, b, c] = result;
    return std::get<I>(std::tie(a, b, c));
  } else {
    const auto& [a, b, c, d] = result;
    return std::get<I>(std::tie(a, b, c, d));
  }
}

}  // namespace tandem::detail

// The language keeps namespace std for itself; but `std::get<1>(…)`, qualified, looks nowhere else.
namespace std {  // NOLINT

template <size_t I, tandem::detail::ResultOfTensors R>
tandem::Tensor get(const R& result) {
  return tandem::detail::get_tensor<I>(result);
}

}  // namespace std
