// Losses as modules: from a prediction and a target to a number.
#pragma once

#include "nn/module.h"
#include "ops/loss.h"

namespace tandem::nn {

/// Softmax and negative log-likelihood together: logits (n, c) and class indices (n). As torch.nn.CrossEntropyLoss.
struct CrossEntropyLoss : Module {
  CrossEntropyOptions options;

  explicit CrossEntropyLoss(CrossEntropyOptions options = {}) : options(std::move(options)) {}
  void fields(Fields& f) override { f.buffer("weight", options.weight); }
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::here()) {
    return cross_entropy(input, target, options, site);
  }
  Tensor operator()(const Tensor& input, const Tensor& target, Site site = Site::here()) { return forward(input, target, site); }
};

/// The mean of (input - target)². As torch.nn.MSELoss.
struct MSELoss : Module {
  LossOptions options;

  explicit MSELoss(LossOptions options = {}) : options(options) {}
  using Module::forward;
  Tensor forward(const Tensor& input, const Tensor& target, Site site = Site::here()) {
    return mse_loss(input, target, {.reduction = options.reduction}, site);
  }
  Tensor operator()(const Tensor& input, const Tensor& target, Site site = Site::here()) { return forward(input, target, site); }
};

}  // namespace tandem::nn
