// What `./dev bench gpu` measures: a case is work on a device, and how many bytes or operations it is.
#pragma once

#include <functional>
#include <span>

#include "tandem.h"

namespace tandem::bench {

/// Nothing to run: not on this device.
struct GpuWork {
  std::function<void()> run;
  double bytes = 0, flops = 0;
};

struct GpuCase {
  const char* name;
  const char* what;
  GpuWork (*make)(Device device, int64_t shrink);
};

/// Single operations, each a case of kernels that read alike: gpu_kernels.cpp.
[[nodiscard]] std::span<const GpuCase> gpu_kernel_cases();

}  // namespace tandem::bench
