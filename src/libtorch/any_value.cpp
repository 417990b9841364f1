#include "libtorch/any_value.h"

namespace torch::nn {

const std::type_info& AnyValue::type_info() const noexcept { return value_.type(); }

unsigned detail::num_required(DefaultArguments defaults) { return defaults.begin()->first; }

std::vector<AnyValue> detail::with_defaults(std::vector<AnyValue>&& arguments, DefaultArguments defaults) {
  for (const auto& [position, value] : defaults)
    if (position >= arguments.size()) arguments.push_back(value);
  return std::move(arguments);
}

}  // namespace torch::nn
