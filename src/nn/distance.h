// How far apart, and how alike, two inputs are, as modules.
#pragma once

#include "nn/module.h"

namespace tandem::nn {

/// The cosine of the angle between x1 and x2 along `dim`; norms count as at least eps. As torch.nn.CosineSimilarity.
struct CosineSimilarity : Module {
  int64_t dim;
  double eps;

  explicit CosineSimilarity(int64_t dim_ = 1, double eps_ = 1e-8) : dim(dim_), eps(eps_) {}
  void settings(Settings& s) override;
  using Module::forward;
  Tensor forward(const Tensor& x1, const Tensor& x2, Site site = Site::here());
  Tensor operator()(const Tensor& x1, const Tensor& x2, Site site = Site::here());
};

/// The p-norm of x1 - x2 + eps along the last dimension. As torch.nn.PairwiseDistance.
struct PairwiseDistance : Module {
  double p, eps;
  bool keepdim;

  explicit PairwiseDistance(double p_ = 2, double eps_ = 1e-6, Flag keepdim_ = false) : p(p_), eps(eps_), keepdim(keepdim_) {}
  void settings(Settings& s) override;
  using Module::forward;
  Tensor forward(const Tensor& x1, const Tensor& x2, Site site = Site::here());
  Tensor operator()(const Tensor& x1, const Tensor& x2, Site site = Site::here());
};

}  // namespace tandem::nn
