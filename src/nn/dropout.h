// Dropout as modules. In evaluation mode each gives its input itself. Error unless 0 <= p <= 1.
#pragma once

#include <string>

#include "nn/module.h"
#include "ops/dropout.h"
#include "ops/random.h"

namespace tandem::nn {

/// What all dropouts share.
struct DropoutBase : Module {
  double p;
  bool inplace;

  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  DropoutBase(double p, Flag inplace);
  virtual Tensor drop(const Tensor& x, Site site) = 0;
  /// The same written into x.
  virtual Tensor drop_in_place(const Tensor& x, Site site) { return x.copy_(drop(x, site), false, site); }
};

/// The dropout of one function.
template <Tensor (*Function)(const Tensor& x, double p, Flag training, Site site)>
struct DropoutOf : DropoutBase {
  explicit DropoutOf(double p_ = 0.5, Flag inplace_ = false, Site = Site::here()) : DropoutBase(p_, inplace_) {}

 protected:
  Tensor drop(const Tensor& x, Site site) override { return Function(x, p, training(), site); }
};

/// Zeroes each element with probability p and scales the others by 1 / (1 - p). As torch.nn.Dropout.
struct Dropout : DropoutOf<dropout> {
  using DropoutOf::DropoutOf;

 protected:
  Tensor drop_in_place(const Tensor& x, Site site) override { return dropout_(x, p, training(), site); }
};

/// Zeroes whole channels of (n, c, l) or (c, l). As torch.nn.Dropout1d.
struct Dropout1d : DropoutOf<dropout1d> {
  using DropoutOf::DropoutOf;
};

/// Zeroes whole channels of (n, c, h, w) or, as PyTorch reads other numbers of dimensions, (n, c, …). As torch.nn.Dropout2d.
struct Dropout2d : DropoutOf<dropout2d> {
  using DropoutOf::DropoutOf;
};

/// Zeroes whole channels of (n, c, d, h, w) or (c, d, h, w). As torch.nn.Dropout3d.
struct Dropout3d : DropoutOf<dropout3d> {
  using DropoutOf::DropoutOf;
};

/// Dropout that keeps mean and variance, for networks with SELU. As torch.nn.AlphaDropout.
struct AlphaDropout : DropoutOf<alpha_dropout> {
  using DropoutOf::DropoutOf;
};

/// AlphaDropout of whole channels. As torch.nn.FeatureAlphaDropout.
struct FeatureAlphaDropout : DropoutOf<feature_alpha_dropout> {
  using DropoutOf::DropoutOf;
};

}  // namespace tandem::nn
