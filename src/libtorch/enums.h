// torch::kReLU, torch::kMean and the like: words that are types of their own, of which options hold one of several in a variant.
#pragma once

#include <string>
#include <variant>

#include "base/error.h"
#include "libtorch/types.h"

namespace torch {

using std::get;
using std::get_if;
using std::holds_alternative;
using std::variant;
using std::visit;

/// A word's type, torch::enumtype::kName, and the word itself, torch::kName.
#define TANDEM_ENUM(name)                          \
  namespace enumtype {                             \
  struct k##name {                                 \
    static constexpr const char* text = "k" #name; \
  };                                               \
  }                                                \
  inline constexpr enumtype::k##name k##name {}

// What init calculates gains for, and activations.
TANDEM_ENUM(Linear);
TANDEM_ENUM(Conv1D);
TANDEM_ENUM(Conv2D);
TANDEM_ENUM(Conv3D);
TANDEM_ENUM(ConvTranspose1D);
TANDEM_ENUM(ConvTranspose2D);
TANDEM_ENUM(ConvTranspose3D);
TANDEM_ENUM(Sigmoid);
TANDEM_ENUM(Tanh);
TANDEM_ENUM(ReLU);
TANDEM_ENUM(GELU);
TANDEM_ENUM(SiLU);
TANDEM_ENUM(Mish);
TANDEM_ENUM(LeakyReLU);
TANDEM_ENUM(FanIn);
TANDEM_ENUM(FanOut);
// Padding, and what lies outside of an image.
TANDEM_ENUM(Constant);
TANDEM_ENUM(Reflect);
TANDEM_ENUM(Replicate);
TANDEM_ENUM(Circular);
TANDEM_ENUM(Zeros);
TANDEM_ENUM(Border);
TANDEM_ENUM(Reflection);
TANDEM_ENUM(Valid);
TANDEM_ENUM(Same);
// Interpolation.
TANDEM_ENUM(Nearest);
TANDEM_ENUM(Bilinear);
TANDEM_ENUM(Bicubic);
TANDEM_ENUM(Trilinear);
TANDEM_ENUM(Area);
TANDEM_ENUM(NearestExact);
// What becomes of the losses of elements, and of the rows of a bag.
TANDEM_ENUM(Sum);
TANDEM_ENUM(Mean);
TANDEM_ENUM(Max);
TANDEM_ENUM(None);
TANDEM_ENUM(BatchMean);
// Kinds of recurrent networks.
TANDEM_ENUM(RNN_TANH);
TANDEM_ENUM(RNN_RELU);
TANDEM_ENUM(LSTM);
TANDEM_ENUM(GRU);

#undef TANDEM_ENUM

namespace enumtype {

/// The word that a variant holds, as it is written: "kMean".
template <class V>
[[nodiscard]] std::string get_enum_name(const V& word) {
  return std::visit([](const auto& held) { return std::string(held.text); }, word);
}

/// The reduction that a variant of kNone, kMean and kSum stands for. Error for another word.
template <class V>
[[nodiscard]] Reduction::Reduction reduction_get_enum(const V& word) {
  const std::string name = get_enum_name(word);
  if (name == kNone::text) return Reduction::None;
  if (name == kMean::text) return Reduction::Mean;
  if (name == kSum::text) return Reduction::Sum;
  tandem::fail("[reduction_get_enum] ", name, " is no reduction; there are kNone, kMean, kSum");
}

}  // namespace enumtype
}  // namespace torch
