// Activations as modules. Those with `inplace` change their input where it is set.
#pragma once

#include <optional>
#include <string>

#include "nn/module.h"

namespace tandem::nn {

/// What activations without another setting than `inplace` share.
struct InplaceActivation : Module {
  bool inplace;

  [[nodiscard]] std::string extra_repr() const override;
  void settings(Settings& s) override;

 protected:
  explicit InplaceActivation(Flag inplace_) : inplace(inplace_) {}
};

/// max(0, x). As torch.nn.ReLU.
struct ReLU : InplaceActivation {
  explicit ReLU(Flag inplace_ = false) : InplaceActivation(inplace_) {}
  Tensor forward(const Tensor& x) override;
};

/// min(max(0, x), 6). As torch.nn.ReLU6.
struct ReLU6 : InplaceActivation {
  explicit ReLU6(Flag inplace_ = false) : InplaceActivation(inplace_) {}
  Tensor forward(const Tensor& x) override;
};

/// scale * (max(0, x) + min(0, alpha * (exp(x) - 1))) with the numbers of Klambauer et al. As torch.nn.SELU.
struct SELU : InplaceActivation {
  explicit SELU(Flag inplace_ = false) : InplaceActivation(inplace_) {}
  Tensor forward(const Tensor& x) override;
};

/// x * sigmoid(x). As torch.nn.SiLU.
struct SiLU : InplaceActivation {
  explicit SiLU(Flag inplace_ = false) : InplaceActivation(inplace_) {}
  Tensor forward(const Tensor& x) override;
};

/// x * tanh(softplus(x)). As torch.nn.Mish.
struct Mish : InplaceActivation {
  explicit Mish(Flag inplace_ = false) : InplaceActivation(inplace_) {}
  Tensor forward(const Tensor& x) override;
};

/// min(max(0, x / 6 + 1/2), 1). As torch.nn.Hardsigmoid.
struct Hardsigmoid : Module {
  bool inplace;

  explicit Hardsigmoid(Flag inplace_ = false) : inplace(inplace_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
};

/// x * hardsigmoid(x). As torch.nn.Hardswish.
struct Hardswish : Module {
  bool inplace;

  explicit Hardswish(Flag inplace_ = false) : inplace(inplace_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
};

/// As torch.nn.Tanh.
struct Tanh : Module {
  Tensor forward(const Tensor& x) override;
};

/// x - tanh(x). As torch.nn.Tanhshrink.
struct Tanhshrink : Module {
  Tensor forward(const Tensor& x) override;
};

/// 1 / (1 + exp(-x)). As torch.nn.Sigmoid.
struct Sigmoid : Module {
  Tensor forward(const Tensor& x) override;
};

/// log(sigmoid(x)). As torch.nn.LogSigmoid.
struct LogSigmoid : Module {
  Tensor forward(const Tensor& x) override;
};

/// x / (1 + |x|). As torch.nn.Softsign.
struct Softsign : Module {
  Tensor forward(const Tensor& x) override;
};

/// x where x > 0, else alpha * (exp(x) - 1). As torch.nn.ELU.
struct ELU : Module {
  double alpha;
  bool inplace;

  explicit ELU(double alpha_ = 1, Flag inplace_ = false) : alpha(alpha_), inplace(inplace_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// x where x > 0, else alpha * (exp(x / alpha) - 1). As torch.nn.CELU.
struct CELU : Module {
  double alpha;
  bool inplace;

  explicit CELU(double alpha_ = 1, Flag inplace_ = false) : alpha(alpha_), inplace(inplace_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// x * P(X <= x) for a normal X, exactly ("none") or by "tanh". As torch.nn.GELU.
struct GELU : Module {
  std::string approximate;

  explicit GELU(std::string approximate_ = "none") : approximate(std::move(approximate_)) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// a * sigmoid(b), a and b the halves of x along `dim`. As torch.nn.GLU.
struct GLU : Module {
  int64_t dim;

  explicit GLU(int64_t dim_ = -1) : dim(dim_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// x where |x| > lambd, else 0. As torch.nn.Hardshrink.
struct Hardshrink : Module {
  double lambd;

  explicit Hardshrink(double lambd_ = 0.5) : lambd(lambd_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// x moved towards 0 by lambd. As torch.nn.Softshrink.
struct Softshrink : Module {
  double lambd;

  explicit Softshrink(double lambd_ = 0.5) : lambd(lambd_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// x within [min_val, max_val]. As torch.nn.Hardtanh.
struct Hardtanh : Module {
  double min_val, max_val;
  bool inplace;

  /// Error unless min_val < max_val.
  explicit Hardtanh(double min_val = -1, double max_val = 1, Flag inplace = false, Site = Site::here());
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// max(0, x) + negative_slope * min(0, x). As torch.nn.LeakyReLU.
struct LeakyReLU : Module {
  double negative_slope;
  bool inplace;

  explicit LeakyReLU(double negative_slope_ = 0.01, Flag inplace_ = false) : negative_slope(negative_slope_), inplace(inplace_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// LeakyReLU whose slope is learned: one for all channels, or one each (dimension 1), starting at `init`. As torch.nn.PReLU.
struct PReLU : Module {
  Tensor weight;  // (num_parameters)

  explicit PReLU(int64_t num_parameters = 1, double init = 0.25, const Options& options = {}, Site site = Site::here());
  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// LeakyReLU with slopes drawn from [lower, upper) in training, with their mean else. As torch.nn.RReLU.
struct RReLU : Module {
  double lower, upper;
  bool inplace;

  explicit RReLU(double lower_ = 1.0 / 8, double upper_ = 1.0 / 3, Flag inplace_ = false)
      : lower(lower_), upper(upper_), inplace(inplace_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold. As torch.nn.Softplus.
struct Softplus : Module {
  double beta, threshold;

  explicit Softplus(double beta_ = 1, double threshold_ = 20) : beta(beta_), threshold(threshold_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// x where x > threshold, else value. As torch.nn.Threshold.
struct Threshold : Module {
  Scalar threshold, value;
  bool inplace;

  Threshold(Scalar threshold_, Scalar value_, Flag inplace_ = false) : threshold(threshold_), value(value_), inplace(inplace_) {}
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

namespace detail {
/// What the kinds of softmax share.
struct AlongDim : Module {
  std::optional<int64_t> dim;

  /// Without a `dim`, PyTorch's old choice: the first dimension of an input with 0, 1 or 3 dimensions, the second of any other.
  explicit AlongDim(std::optional<int64_t> dim_ = {}) : dim(dim_) {}
  [[nodiscard]] std::string extra_repr() const override;
  void settings(Settings& s) override;

 protected:
  [[nodiscard]] int64_t dim_of(const Tensor& x) const;
};
}  // namespace detail

/// Softmax along `dim`. As torch.nn.Softmax.
struct Softmax : detail::AlongDim {
  using AlongDim::AlongDim;
  Tensor forward(const Tensor& x) override;
};

/// Softmax of -x along `dim`. As torch.nn.Softmin.
struct Softmin : detail::AlongDim {
  using AlongDim::AlongDim;
  Tensor forward(const Tensor& x) override;
};

/// Softmax over the channels of (n, c, h, w) or (c, h, w). As torch.nn.Softmax2d.
struct Softmax2d : Module {
  Tensor forward(const Tensor& x) override;
};

/// The logarithm of softmax along `dim`. As torch.nn.LogSoftmax.
struct LogSoftmax : detail::AlongDim {
  using AlongDim::AlongDim;
  Tensor forward(const Tensor& x) override;
};

}  // namespace tandem::nn
