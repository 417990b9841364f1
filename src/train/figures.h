// Named numbers of a training run, in the order in which they are shown.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::train {

/// Names and numbers.
using Figures = std::vector<std::pair<std::string, double>>;

/// The number of that name, or nullptr.
[[nodiscard]] inline const double* find(const Figures& figures, std::string_view name) {
  for (const auto& [key, value] : figures)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace tandem::train
