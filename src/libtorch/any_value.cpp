#include "libtorch/any_value.h"

namespace torch::nn {

const std::type_info& AnyValue::type_info() const noexcept { return value_.type(); }

}  // namespace torch::nn

namespace torch::nn::detail {

unsigned num_required(DefaultArguments defaults) { return defaults.begin()->first; }

std::vector<AnyValue> with_defaults(std::vector<AnyValue>&& arguments, DefaultArguments defaults) {
  for (const auto& [position, value] : defaults)
    if (position >= arguments.size()) arguments.push_back(value);
  return std::move(arguments);
}

}  // namespace torch::nn::detail
