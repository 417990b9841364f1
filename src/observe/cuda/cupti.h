// NVIDIA's CUPTI, opened when a profile first times work on a GPU: it tells when each kernel, copy and filling ran.
#pragma once

#include <string>

#include "runtime/libraries.h"

namespace tandem::profiler::cupti {

/// Makes it the tool that profiles ask. Where it is not found, or the driver does not let it work, profiles have events instead.
void use();
[[nodiscard]] tandem::cuda::Library describe();

}  // namespace tandem::profiler::cupti
