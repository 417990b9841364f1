// Normalization as layers.
#pragma once

#include "libtorch/layers_base.h"
#include "libtorch/options_activation.h"

namespace torch::nn {
/// What normalizations by running statistics share: weight, bias and statistics of each channel, those that there are.
template <size_t D, class Derived, class DerivedOptions>
class NormImplBase : public Cloneable<Derived> {
 public:
  NormImplBase(const DerivedOptions& options_, Site = Site::here());

  void reset() override;
  /// Mean 0, variance 1, no batches.
  void reset_running_stats(Site site = Site::here());
  /// The same, and weight 1, bias 0.
  void reset_parameters(Site site = Site::here());

  DerivedOptions options;
  Tensor weight, bias;
  Tensor running_mean, running_var;
  Tensor num_batches_tracked;
};

/// Each channel with mean 0 and variance 1: in training by the batch, whose statistics the running ones follow; else by those.
template <size_t D, class Derived>
class BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;

  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};

/// The same by the statistics of each sample, in evaluation too unless running ones are tracked.
template <size_t D, class Derived>
class InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;

  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;
};

#define TANDEM_NORM(Name, Base, D)                                  \
  class Name##Impl : public Base<D, Name##Impl> {                   \
   public:                                                          \
    static constexpr const char* kName = #Name;                     \
    using Base<D, Name##Impl>::Base;                                \
  };                                                                \
  extern template class NormImplBase<D, Name##Impl, Name##Options>; \
  extern template class Base<D, Name##Impl>;                        \
  TANDEM_TORCH_LAYER(Name)

TANDEM_NORM(BatchNorm1d, BatchNormImplBase, 1);
TANDEM_NORM(BatchNorm2d, BatchNormImplBase, 2);
TANDEM_NORM(BatchNorm3d, BatchNormImplBase, 3);
TANDEM_NORM(InstanceNorm1d, InstanceNormImpl, 1);
TANDEM_NORM(InstanceNorm2d, InstanceNormImpl, 2);
TANDEM_NORM(InstanceNorm3d, InstanceNormImpl, 3);

#undef TANDEM_NORM

/// Mean 0 and variance 1 over the last dimensions.
class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape, Site site = Site::here());
  explicit LayerNormImpl(LayerNormOptions options_, Site = Site::here());
  void reset() override;
  void reset_parameters(Site site = Site::here());
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;

  LayerNormOptions options;
  Tensor weight, bias;
};
TANDEM_TORCH_LAYER(LayerNorm);

/// Mean 0 and variance 1 over groups of channels.
class GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels, Site site = Site::here());
  explicit GroupNormImpl(const GroupNormOptions& options_, Site = Site::here());
  void reset() override;
  void reset_parameters(Site site = Site::here());
  Tensor forward(const Tensor& input, Site site = Site::here());
  void pretty_print(std::ostream& stream) const override;

  GroupNormOptions options;
  Tensor weight, bias;
};
TANDEM_TORCH_LAYER(GroupNorm);

/// Each element divided by a power of what neighbouring channels have at its place.
TANDEM_OPTIONS_LAYER(LocalResponseNorm, const Tensor& input);

/// The same with windows of an odd number of channels: an even size has one less, but the sum counts as of all.
TANDEM_OPTIONS_LAYER(CrossMapLRN2d, const Tensor& input);

}  // namespace torch::nn
