// Linear layers, layers that only reshape, embeddings, and distances.
#pragma once

#include "libtorch/layers_base.h"
#include "libtorch/options_linear.h"

namespace torch::nn {

/// The input itself; arguments of any kind are taken and not used.
class IdentityImpl : public detail::NoOptions<IdentityImpl> {
 public:
  Tensor forward(const Tensor& input, Site = Site::here()) { return input; }
  void pretty_print(std::ostream& stream) const override;
};
TANDEM_TORCH_LAYER(Identity);

/// input weightᵀ + bias; weight (out, in) and bias (out) start uniform within ±1/sqrt(in).
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features, Site site = Site::here());
  explicit LinearImpl(const LinearOptions& options_, Site = Site::here());
  void reset() override;
  void reset_parameters(Site site = Site::here());
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;

  LinearOptions options;
  Tensor weight, bias;
};
TANDEM_TORCH_LAYER(Linear);

/// input1 weight[k] input2 + bias[k], which start uniform within ±1/sqrt(in1).
class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features, Site site = Site::here());
  explicit BilinearImpl(const BilinearOptions& options_, Site = Site::here());
  void reset() override;
  void reset_parameters(Site site = Site::here());
  Tensor forward(const Tensor& input1, const Tensor& input2, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;

  BilinearOptions options;
  Tensor weight, bias;
};
TANDEM_TORCH_LAYER(Bilinear);

/// Merges dimensions into one.
TANDEM_OPTIONS_LAYER(Flatten, const Tensor& input);

/// Divides a dimension into several.
class UnflattenImpl : public detail::OptionsOnly<UnflattenImpl, UnflattenOptions> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes, Site site = Site::here());
  UnflattenImpl(std::string dimname, UnflattenOptions::namedshape_t namedshape, Site site = Site::here());
  explicit UnflattenImpl(UnflattenOptions options_, Site = Site::here());
  /// Error for a dimension by name.
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};
TANDEM_TORCH_LAYER(Unflatten);

TANDEM_OPTIONS_LAYER(CosineSimilarity, const Tensor& input1, const Tensor& input2);

TANDEM_OPTIONS_LAYER(PairwiseDistance, const Tensor& input1, const Tensor& input2);

}  // namespace torch::nn
