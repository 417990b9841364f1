// Ranges for NVIDIA's tools: Nsight Systems shows them above what the GPU does.
#pragma once

namespace tandem::profiler {

/// From now on, where such a tool has started the program (it sets NVTX_INJECTION64_PATH), ranges of `RecordFunction`, operations, copies,
/// waits, collectives and nodes of backward are NVTX ranges of the domain "tandem".
void name_ranges_for_nvtx();

}  // namespace tandem::profiler
