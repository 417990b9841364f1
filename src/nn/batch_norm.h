// Normalization by the statistics of a batch or of each sample, with running ones for evaluation.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "nn/module.h"

namespace tandem::distributed {
class ProcessGroup;
}

namespace tandem::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // how far the running statistics follow; std::nullopt: they are the mean of all batches
  bool affine = true;
  bool track_running_stats = true;
  bool bias = true;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

struct InstanceNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;
  bool affine = false;
  bool track_running_stats = false;
  bool bias = true;
  std::optional<Device> device = {};
  std::optional<DType> dtype = {};
};

/// What both kinds share: parameters, running statistics, their text.
struct NormBase : Module {
  Tensor weight, bias;               // (num_features), or undefined
  Tensor running_mean, running_var;  // (num_features), or undefined
  Tensor num_batches_tracked;        // int64, no dimensions, or undefined
  double eps;
  std::optional<double> momentum;
  /// The ranks over whose batches a BatchNorm takes its statistics in training; nullptr: this rank's batch alone. Set by
  /// convert_sync_batchnorm.
  std::shared_ptr<const distributed::ProcessGroup> sync_group;

  void fields(Fields& f) override;
  void settings(Settings& s) override;
  /// weight 1, bias 0, and the running statistics as at the start.
  void reset_parameters(Site site = Site::here());
  /// Mean 0, variance 1, no batches.
  void reset_running_stats(Site site = Site::here());
  /// 0 before the first forward of a lazy one.
  [[nodiscard]] int64_t num_features() const { return num_features_; }
  /// That of a lazy one is its base's as soon as it knows its sizes. "SyncBatchNorm" where there is a sync_group.
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  NormBase(bool lazy, int64_t num_features, const BatchNormOptions& options, Site site);
  /// Makes the parameters and statistics of a lazy one, where they are not there yet, for `features` channels.
  void prepare(int64_t features);
  /// The input normalized as in a BatchNorm, by this mode's statistics; counts the batch.
  Tensor normalize(const Tensor& x);
  [[nodiscard]] bool affine() const { return affine_; }

 private:
  void make(Site site);

  int64_t num_features_;
  bool lazy_, affine_, track_, has_bias_;
  Options placement_;
};

/// Each channel of (n, c, spatial…) with mean 0 and variance 1 over all else, then times weight plus bias. In training by the batch's
/// statistics, which the running ones follow; in evaluation by the running ones. BatchNorm1d takes (n, c) too. As torch.nn.BatchNorm1d,
/// BatchNorm2d and BatchNorm3d.
template <int Spatial>
struct BatchNormOf : NormBase {
  explicit BatchNormOf(int64_t num_features, const BatchNormOptions& options = {}, Site site = Site::here())
      : BatchNormOf(false, num_features, options, site) {}
  Tensor forward(const Tensor& x) override;

 protected:
  BatchNormOf(bool lazy, int64_t num_features, const BatchNormOptions& options, Site site) : NormBase(lazy, num_features, options, site) {}
};

/// The same with the statistics of each sample of (n, c, spatial…) or (c, spatial…), in evaluation too unless running ones are tracked. As
/// torch.nn.InstanceNorm1d, InstanceNorm2d and InstanceNorm3d.
template <int Spatial>
struct InstanceNormOf : NormBase {
  explicit InstanceNormOf(int64_t num_features, const InstanceNormOptions& options = {}, Site site = Site::here())
      : InstanceNormOf(false, num_features, options, site) {}
  Tensor forward(const Tensor& x) override;

 protected:
  InstanceNormOf(bool lazy, int64_t num_features, const InstanceNormOptions& options, Site site);
};

extern template struct BatchNormOf<1>;
extern template struct BatchNormOf<2>;
extern template struct BatchNormOf<3>;
extern template struct InstanceNormOf<1>;
extern template struct InstanceNormOf<2>;
extern template struct InstanceNormOf<3>;

/// A normalization that learns its number of channels from the first input. As torch.nn.LazyBatchNorm2d and its like.
template <class Norm, class NormOptions>
struct LazyNormOf : Norm {
  explicit LazyNormOf(const NormOptions& options = {}, Site site = Site::here()) : Norm(true, 0, options, site) {}
};

struct BatchNorm1d : BatchNormOf<1> {
  using BatchNormOf::BatchNormOf;
};
struct BatchNorm2d : BatchNormOf<2> {
  using BatchNormOf::BatchNormOf;
};
struct BatchNorm3d : BatchNormOf<3> {
  using BatchNormOf::BatchNormOf;
};
struct InstanceNorm1d : InstanceNormOf<1> {
  using InstanceNormOf::InstanceNormOf;
};
struct InstanceNorm2d : InstanceNormOf<2> {
  using InstanceNormOf::InstanceNormOf;
};
struct InstanceNorm3d : InstanceNormOf<3> {
  using InstanceNormOf::InstanceNormOf;
};
struct LazyBatchNorm1d : LazyNormOf<BatchNorm1d, BatchNormOptions> {
  using LazyNormOf::LazyNormOf;
};
struct LazyBatchNorm2d : LazyNormOf<BatchNorm2d, BatchNormOptions> {
  using LazyNormOf::LazyNormOf;
};
struct LazyBatchNorm3d : LazyNormOf<BatchNorm3d, BatchNormOptions> {
  using LazyNormOf::LazyNormOf;
};
struct LazyInstanceNorm1d : LazyNormOf<InstanceNorm1d, InstanceNormOptions> {
  using LazyNormOf::LazyNormOf;
};
struct LazyInstanceNorm2d : LazyNormOf<InstanceNorm2d, InstanceNormOptions> {
  using LazyNormOf::LazyNormOf;
};
struct LazyInstanceNorm3d : LazyNormOf<InstanceNorm3d, InstanceNormOptions> {
  using LazyNormOf::LazyNormOf;
};

}  // namespace tandem::nn
