// What sliding windows see, side by side, and the sums that bring it back.
#pragma once

#include "ops/window.h"
#include "tensor/tensor.h"

namespace tandem {

struct FoldOptions {
  PerDim dilation = 1;
  PerDim padding = 0;
  PerDim stride = 1;
};

/// input (n, c, h, w) or (c, h, w) to (n, c * kernel, windows). As torch.nn.functional.unfold.
[[nodiscard]] Tensor unfold(const Tensor& input, const PerDim& kernel_size, const FoldOptions& options = {}, Site site = Site::here());
/// input (n, c * kernel, windows) or (c * kernel, windows) to (n, c, output_size…): what windows have at a place is added up. As
/// torch.nn.functional.fold.
[[nodiscard]] Tensor fold(const Tensor& input, const PerDim& output_size, const PerDim& kernel_size, const FoldOptions& options = {},
                          Site site = Site::here());

}  // namespace tandem
