// Fully connected layers.
#pragma once

#include "nn/module.h"

namespace tandem::nn {

struct LinearOptions {
  bool bias = true;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// x Wᵀ + b over the last dimension: (…, in) to (…, out). As torch.nn.Linear: weight and bias start uniform within ±1/sqrt(in).
struct Linear : Module {
  Tensor weight;  // (out, in)
  Tensor bias;    // (out); undefined where there is none

  Linear(int64_t in_features, int64_t out_features, const LinearOptions& options = {}, Site site = Site::here());

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  /// An activation that is computed together with the product.
  enum class Then : uint8_t { Relu, Gelu };
  /// relu(forward(x)), or gelu(forward(x), "tanh"), as linear_relu and linear_gelu.
  virtual Tensor forward_then(Then then, const Tensor& x);
  /// Draws weight and bias anew.
  void reset_parameters(Site site = Site::here());
  /// The size of the last dimension that it takes; 0 for a lazy one before its first forward.
  [[nodiscard]] int64_t in_features() const { return weight.defined() ? weight.size(1, Site::none()) : 0; }
  /// The size of the last dimension that it gives.
  [[nodiscard]] virtual int64_t out_features() const { return weight.size(0, Site::none()); }
  [[nodiscard]] int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override;
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  Linear() = default;
};

/// A Linear that learns its number of inputs from the first one it sees; its parameters are undefined until then. As torch.nn.LazyLinear.
struct LazyLinear : Linear {
  explicit LazyLinear(int64_t out_features, const LinearOptions& options = {}, Site = Site::here());

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  Tensor forward(const Tensor& x) override;
  Tensor forward_then(Then then, const Tensor& x) override;
  [[nodiscard]] int64_t out_features() const override { return out_features_; }
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string extra_repr() const override;

 private:
  void initialize(const Tensor& x);

  int64_t out_features_;
  bool has_bias_;
  Options placement_;
};

/// y[…, k] = x1 W[k] x2 + b[k]: two inputs (…, in1) and (…, in2) to (…, out). As torch.nn.Bilinear: weight and bias start uniform within
/// ±1/sqrt(in1). Error unless in1_features > 0.
struct Bilinear : Module {
  Tensor weight;  // (out, in1, in2)
  Tensor bias;    // (out); undefined where there is none

  Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features, const LinearOptions& options = {}, Site site = Site::here());

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  using Module::forward;
  Tensor forward(const Tensor& input1, const Tensor& input2, Site site = Site::here());
  Tensor operator()(const Tensor& input1, const Tensor& input2, Site site = Site::here());
  [[nodiscard]] int64_t multiply_adds(std::span<const Tensor> inputs, std::span<const Tensor> outputs) const override;
  /// Draws weight and bias anew.
  void reset_parameters(Site site = Site::here());
  [[nodiscard]] std::string extra_repr() const override;
};

}  // namespace tandem::nn
