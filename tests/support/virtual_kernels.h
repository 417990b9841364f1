// Which kernels the virtual GPUs of a test program run.
#pragma once

namespace tandem::testing {

/// Virtual GPUs run the kernels that TANDEM_VIRTUAL_KERNELS names: `cuda` those of kernels/cuda, walked on the host (libtandem_walked.so),
/// `libraries` with them the calls of NVIDIA's libraries (libtandem_emulated.so). Where it is not set, they run the CPU's, as ever.
/// 0, or what the program is to exit with: 77, which ctest takes as skipped, where a library of NVIDIA's is missing, and 1 for what cannot
/// be had; the reason stands on stderr.
[[nodiscard]] int use_kernels_of_environment();

}  // namespace tandem::testing
