// Reading safetensors for readers of more than one file, which have a name of their own in errors.
#pragma once

#include <string>
#include <vector>

#include "io/safetensors.h"

namespace tandem::io {

/// As read_safetensors; `op` is named in errors.
[[nodiscard]] SafetensorsFile read_safetensors_as(const char* op, const std::string& path, Device device,
                                                  const std::vector<std::string>& names, Site site);

}  // namespace tandem::io
