// NVIDIA's management library (NVML), which tells what a GPU's gauges show.
#pragma once

#include "runtime/monitor.h"

namespace tandem::runtime::cuda_gpu {

/// Of the GPU at a PCI address ("0000:01:00.0"). Throws where the library is missing or does not know the GPU; a gauge that it does not
/// tell is left out.
[[nodiscard]] cuda::DeviceFigures nvml_figures(const char* pci_address);

}  // namespace tandem::runtime::cuda_gpu
