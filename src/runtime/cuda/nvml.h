// NVIDIA's management library (NVML), which tells what a card's gauges show.
#pragma once

#include "runtime/monitor.h"

namespace tandem::runtime::cuda_cards {

/// Of the card at a PCI address ("0000:01:00.0"). Throws where the library is missing or does not know the card; a gauge that it does not
/// tell is left out.
[[nodiscard]] cuda::CardFigures nvml_figures(const char* pci_address);

}  // namespace tandem::runtime::cuda_cards
