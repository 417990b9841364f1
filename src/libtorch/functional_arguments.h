// From options of libtorch's form to the arguments of tandem's functions. For this folder.
#pragma once

#include <string>
#include <tuple>

#include "libtorch/enums.h"
#include "libtorch/types.h"
#include "ops/convolution.h"
#include "ops/loss/loss.h"
#include "ops/pooling.h"

namespace torch::nn::detail {

using tandem::Site;

/// A list of D sizes as tandem has lists.
template <size_t D>
[[nodiscard]] tandem::Shape shape_of(const ExpandingArray<D>& sizes) {
  return {sizes->data(), D};
}

/// Sizes of which some may be the input's own.
template <size_t D>
[[nodiscard]] tandem::OutputSize output_size_of(const ExpandingArrayWithOptionalElem<D>& sizes) {
  tandem::Shape values;
  for (const auto& size : *sizes) values.push_back(size.value_or(tandem::OutputSize::kSame));
  return values;
}
[[nodiscard]] tandem::OutputSize output_size_of(const ExpandingArray<1>& sizes);

/// "same", "valid", or numbers.
template <size_t D>
[[nodiscard]] tandem::ConvPadding conv_padding_of(const std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>& padding) {
  if (const auto* numbers = std::get_if<ExpandingArray<D>>(&padding)) return shape_of(*numbers);
  return std::holds_alternative<enumtype::kSame>(padding) ? "same" : "valid";
}

/// The word that a variant holds as tandem writes it: kBilinear is "bilinear", kNearestExact "nearest-exact".
template <class V>
[[nodiscard]] std::string word_of(const V& variant) {
  std::string word;
  for (const char c : enumtype::get_enum_name(variant).substr(1)) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !word.empty()) word += '-';
    word += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

/// The reduction that a loss's word stands for.
template <class V>
[[nodiscard]] tandem::Reduction reduction_of(const V& word) {
  if (std::holds_alternative<enumtype::kNone>(word)) return tandem::Reduction::None;
  if (std::holds_alternative<enumtype::kSum>(word)) return tandem::Reduction::Sum;
  return std::holds_alternative<enumtype::kMean>(word) ? tandem::Reduction::Mean : tandem::Reduction::BatchMean;
}

/// Values and indices as the pair that libtorch returns.
[[nodiscard]] std::tuple<Tensor, Tensor> pair_of(tandem::ValuesIndices both);

}  // namespace torch::nn::detail
