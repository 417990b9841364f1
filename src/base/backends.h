// Switches of what GPUs compute with, by PyTorch's names. On the CPU and on virtual GPUs they change nothing: the CPU's kernels add in one
// order always.
#pragma once

#include <atomic>

namespace tandem {

/// With true, kernels of GPUs that would combine numbers in any order take a way that gives the same bits every time, the CPU's order,
/// which is slower: writing to places that indices name (index_put_, scatter, index_add, the gradients of indexing, embeddings and
/// grid_sample). cuDNN's algorithms are chosen as with backends::cudnn::deterministic. false at first; for all threads. As
/// torch.use_deterministic_algorithms, but no operation is refused.
void use_deterministic_algorithms(bool mode);
/// Whether that is switched on.
[[nodiscard]] bool are_deterministic_algorithms_enabled();

}  // namespace tandem

namespace tandem::backends {

namespace cuda::matmul {
/// Whether products of float32 may round their operands to TF32 (10 bits of fraction) on GPUs that have it. As
/// torch.backends.cuda.matmul.allow_tf32.
extern constinit std::atomic<bool> allow_tf32;  // false
}  // namespace cuda::matmul

namespace cudnn {
/// Whether convolutions and recurrent layers go to cuDNN where it can be had. As torch.backends.cudnn.enabled.
extern constinit std::atomic<bool> enabled;  // true
/// Whether convolutions and recurrent layers of float32 may round to TF32. As torch.backends.cudnn.allow_tf32.
extern constinit std::atomic<bool> allow_tf32;  // true
/// Whether the first convolution of each shape tries what cuDNN proposes and keeps the fastest. As torch.backends.cudnn.benchmark.
extern constinit std::atomic<bool> benchmark;  // false
/// Whether only algorithms that give the same bits every time are taken (recurrent layers are then our own); use_deterministic_algorithms
/// asks for that too. As torch.backends.cudnn.deterministic.
extern constinit std::atomic<bool> deterministic;  // false
}  // namespace cudnn

}  // namespace tandem::backends
