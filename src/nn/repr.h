// How numbers, flags and sizes look in a module's text: as Python writes them. For the library.
#pragma once

#include <optional>
#include <string>

#include "ops/window.h"
#include "tensor/scalar.h"

namespace tandem::nn {
struct ModuleBase;
}

namespace tandem::nn::detail {

/// "1.0", "0.25", "1e-05".
[[nodiscard]] std::string repr(double number);
[[nodiscard]] std::string repr(std::optional<double> number);
/// An integer without a point.
[[nodiscard]] std::string repr(const Scalar& number);
/// "True" or "False".
[[nodiscard]] const char* repr(bool flag);
/// "(2,)", "(2, 3)".
[[nodiscard]] std::string repr(const Shape& sizes);
/// One number as it is, several as a tuple, none as "None".
[[nodiscard]] std::string repr(const PerDim& values);
/// A module without its children: "Linear(in_features=4, out_features=8, bias=True)".
[[nodiscard]] std::string repr(const ModuleBase& module);

}  // namespace tandem::nn::detail
