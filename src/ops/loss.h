// Losses, functional forms.
#pragma once

#include "tensor/tensor.h"

namespace tandem {

enum class Reduction : uint8_t { None, Mean, Sum };

struct CrossEntropyOptions {
  Tensor weight = {};           // one factor a class
  int64_t ignore_index = -100;  // targets that do not count
  Reduction reduction = Reduction::Mean;
  double label_smoothing = 0;
};
struct NllLossOptions {
  Tensor weight = {};
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::Mean;
};
struct LossOptions {
  Reduction reduction = Reduction::Mean;
};

/// Of logits (n, c) or (c) and class indices (n) or (), int64. As torch.nn.functional.cross_entropy.
[[nodiscard]] Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyOptions& options = {},
                                   Site site = Site::here());
/// Of log-probabilities and class indices.
[[nodiscard]] Tensor nll_loss(const Tensor& input, const Tensor& target, const NllLossOptions& options = {}, Site site = Site::here());
/// (input - target)^2. As torch.nn.functional.mse_loss.
[[nodiscard]] Tensor mse_loss(const Tensor& input, const Tensor& target, LossOptions options = {}, Site site = Site::here());
[[nodiscard]] Tensor l1_loss(const Tensor& input, const Tensor& target, LossOptions options = {}, Site site = Site::here());

}  // namespace tandem
