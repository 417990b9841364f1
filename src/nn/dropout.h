// Dropout as modules. In evaluation mode each gives its input itself. Error unless 0 <= p <= 1.
#pragma once

#include <string>

#include "nn/module.h"

namespace tandem::nn {

/// What all dropouts share.
struct DropoutBase : Module {
  double p;
  bool inplace;

  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  DropoutBase(double p, bool inplace);
  virtual Tensor drop(const Tensor& x, Site site) = 0;
};

/// Zeroes each element with probability p and scales the others by 1 / (1 - p). As torch.nn.Dropout.
struct Dropout : DropoutBase {
  explicit Dropout(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}

 protected:
  Tensor drop(const Tensor& x, Site site) override;
};

/// Zeroes whole channels of (n, c, l) or (c, l). As torch.nn.Dropout1d.
struct Dropout1d : DropoutBase {
  explicit Dropout1d(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}

 protected:
  Tensor drop(const Tensor& x, Site site) override;
};

/// Zeroes whole channels of (n, c, h, w) or, as PyTorch reads three dimensions, (n, c, l). As torch.nn.Dropout2d.
struct Dropout2d : DropoutBase {
  explicit Dropout2d(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}

 protected:
  Tensor drop(const Tensor& x, Site site) override;
};

/// Zeroes whole channels of (n, c, d, h, w) or (c, d, h, w). As torch.nn.Dropout3d.
struct Dropout3d : DropoutBase {
  explicit Dropout3d(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}

 protected:
  Tensor drop(const Tensor& x, Site site) override;
};

/// Dropout that keeps mean and variance, for networks with SELU. As torch.nn.AlphaDropout.
struct AlphaDropout : DropoutBase {
  explicit AlphaDropout(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}

 protected:
  Tensor drop(const Tensor& x, Site site) override;
};

/// AlphaDropout of whole channels. As torch.nn.FeatureAlphaDropout.
struct FeatureAlphaDropout : DropoutBase {
  explicit FeatureAlphaDropout(double p = 0.5, bool inplace = false) : DropoutBase(p, inplace) {}

 protected:
  Tensor drop(const Tensor& x, Site site) override;
};

}  // namespace tandem::nn
