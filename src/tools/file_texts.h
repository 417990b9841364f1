// What is shown of files of tensors.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "io/metadata_value.h"
#include "tensor/tensor.h"

namespace tandem::tools {

/// "1.5 GiB", "12 B".
[[nodiscard]] std::string size_text(uint64_t bytes);
/// "1 tensor", "1,234 tensors".
[[nodiscard]] std::string counted(uint64_t count, const std::string& what);
/// The elements of a tensor of these sizes; the largest number where they cannot be counted.
[[nodiscard]] uint64_t element_count(const Shape& sizes);
[[nodiscard]] nlohmann::ordered_json json_of(const io::MetadataValue& value);

}  // namespace tandem::tools
