// How many floating-point operations a kernel takes. For the library.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/observer.h"

namespace tandem::profiler {

/// For products of matrices and convolutions twice the multiplications, for `add` and `mul` one an element, as PyTorch's with_flops counts
/// (torch/csrc/profiler/util.cpp); 0 for all others.
[[nodiscard]] int64_t flops_of(std::string_view op, const runtime::Accesses& accesses);

}  // namespace tandem::profiler
