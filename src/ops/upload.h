// Lists that the host makes for a kernel: where the taps of a resize lie, how long the sequences of a batch are.
#pragma once

#include <span>

#include "tensor/tensor.h"

namespace tandem::ops {

/// The words as an int64 tensor of `device`. Waits for nothing: the copy is queued from page-locked memory, and a graph that is being
/// captured keeps that memory, since it copies at each replay.
[[nodiscard]] Tensor uploaded(std::span<const int64_t> words, Device device, Site site);

}  // namespace tandem::ops
