// Dropout of whole channels, and the kind that keeps mean and variance.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

/// Zeroes elements of x and moves the others so that mean and variance stay, for networks with selu. As torch.nn.functional.alpha_dropout.
[[nodiscard]] Tensor alpha_dropout(const Tensor& x, double p = 0.5, Flag training = false, Site site = Site::here());
/// Whole channels of (N, C, …) zeroed with probability p, the others scaled by 1 / (1 - p). As torch.feature_dropout.
[[nodiscard]] Tensor feature_dropout(const Tensor& x, double p, Flag training, Site site = Site::here());
/// alpha_dropout of whole channels. As torch.nn.functional.feature_alpha_dropout.
[[nodiscard]] Tensor feature_alpha_dropout(const Tensor& x, double p = 0.5, Flag training = false, Site site = Site::here());
/// feature_dropout of (N, C, L) or (C, L), and of nothing else; of (N, C, …), three dimensions being (N, C, L), as PyTorch reads them; of
/// (N, C, D, H, W), any other number of dimensions being (C, …). As torch.nn.functional.dropout1d and so on, which warn of unusual ones.
[[nodiscard]] Tensor dropout1d(const Tensor& x, double p = 0.5, Flag training = true, Site site = Site::here());
[[nodiscard]] Tensor dropout2d(const Tensor& x, double p = 0.5, Flag training = true, Site site = Site::here());
[[nodiscard]] Tensor dropout3d(const Tensor& x, double p = 0.5, Flag training = true, Site site = Site::here());

}  // namespace tandem
