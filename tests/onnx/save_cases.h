// Cases of what is written to ONNX files, for save_operators_test.cpp.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "tandem.h"

namespace onnx_cases {

namespace td = tandem;

using Tensors = std::vector<td::Tensor>;

/// What an input's numbers are.
enum class Numbers { Any, Positive, Unit, Above1, Bits, Indices };

/// A function, for inputs whose first size is open, the others are these.
struct Case {
  const char* row;  // the kernel, or the pointwise operation
  std::function<td::Tensor(const Tensors&)> f;
  std::vector<std::pair<Numbers, td::Shape>> inputs = {{Numbers::Any, {4, 5}}};
  bool of_floats = true, of_integers = false, of_halves = true;
  int64_t opset = 18;
  const char* named = "";  // where a row has several
};

/// Inputs of most cases.
inline const std::pair<Numbers, td::Shape> kAny = {Numbers::Any, {4, 5}}, kOther = {Numbers::Any, {4, 1}},
                                           kPositive = {Numbers::Positive, {4, 5}}, kUnit = {Numbers::Unit, {4, 5}},
                                           kAbove1 = {Numbers::Above1, {4, 5}}, kBits = {Numbers::Bits, {4, 5}};
inline const std::vector<std::pair<Numbers, td::Shape>> kTwo = {kAny, kOther}, kThree = {kAny, kOther, kAny};

/// Those of pointwise operations.
[[nodiscard]] std::vector<Case> pointwise_cases();

}  // namespace onnx_cases
