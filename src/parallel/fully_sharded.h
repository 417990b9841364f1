// Parameters, gradients and optimizer states in shards, one on each rank; whole only for the time that a layer computes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/autograd.h"
#include "comm/api/distributed.h"
#include "optim/optimizer.h"
#include "parallel/wrapper.h"

namespace tandem::parallel {

/// Options of FullyShardedDataParallel, in this order.
struct FullyShardedOptions {
  distributed::ProcessGroup process_group = {};  // all ranks unless given
  /// Modules whose parameters, with those of all below, are gathered together for each call. Unless given: every module that has parameters
  /// of its own, without those below, and attention and transformer layers as a whole.
  std::function<bool(const nn::ModuleBase& module)> is_unit = {};
  bool broadcast_buffers = true;  // rank 0's buffers, before each forward in training mode
};

namespace detail {

/// What stands behind a FullyShardedDataParallel, whatever its module's type.
class Shards {
 public:
  Shards(nn::ModuleBase& module, const FullyShardedOptions& options, Site site);

  void before_forward(Site site) const;
  void after_forward(std::span<const Tensor> outputs, Site site) const;
  [[nodiscard]] std::vector<Tensor> parameters() const;
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  [[nodiscard]] int64_t local_parameter_bytes() const;
  [[nodiscard]] StateDict full_state_dict(Site site) const;
  void load_full_state_dict(const StateDict& state, Site site) const;
  [[nodiscard]] StateDict optim_state_dict(optim::Optimizer& optimizer, Site site) const;
  void load_optim_state_dict(optim::Optimizer& optimizer, const StateDict& state, Site site) const;
  void save(const std::string& folder, Site site) const;
  void load(const std::string& folder, Site site) const;
  Tensor clip_grad_norm_(double max_norm, double norm_type, Site site) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace detail

/// Divides a module's parameters among the ranks: each keeps 1 / ranks of every unit's parameters, gradients and so optimizer states. A
/// unit is gathered just before its module computes, forward and backward, beside the computing of the one before, and given up behind it;
/// its gradients are averaged straight into the shards (Rajbhandari et al., "ZeRO", stage 3). The module is made alike by rank 0's values.
/// It is referred to, and must outlive this; outside of calls its parameters have no values, and to compute with them is an error.
///
/// Optimizers are made of `parameters()` and work element by element. All ranks run the same modules in the same order. As
/// torch.distributed.fsdp.FullyShardedDataParallel.
template <class M>
class FullyShardedDataParallel final : public detail::Wrapper<FullyShardedDataParallel<M>, M> {
 public:
  explicit FullyShardedDataParallel(M& module, const FullyShardedOptions& options = {}, Site site = Site::here())
      : detail::Wrapper<FullyShardedDataParallel<M>, M>(module, site), shards_(module, options, site) {}

  /// This rank's shards, one leaf for each unit: what an optimizer is made of.
  [[nodiscard]] std::vector<Tensor> parameters() const { return shards_.parameters(); }
  /// The same, named by their units: "layers.0.flat_param".
  [[nodiscard]] std::vector<std::pair<std::string, Tensor>> named_parameters() const { return shards_.named_parameters(); }
  /// Forgets the gradients of its shards.
  void zero_grad(Flag set_to_none = true, Site site = Site::here()) {
    const NoGradGuard no_grad;
    for (const Tensor& shard : parameters()) {
      if (set_to_none) shard.grad(site) = Tensor();
      else if (shard.grad(site).defined()) shard.grad(site).zero_(site);
    }
  }
  /// Bytes of this rank's parameters.
  [[nodiscard]] int64_t local_parameter_bytes() const { return shards_.local_parameter_bytes(); }

  /// The module's whole state, on every rank and on the module's device, as its state_dict would be without shards. Every rank calls it.
  [[nodiscard]] StateDict full_state_dict(Site site = Site::here()) const { return shards_.full_state_dict(site); }
  /// Takes a whole state over: every rank its part. Error where names or sizes differ; nothing has changed then.
  void load_full_state_dict(const StateDict& state, Site site = Site::here()) { shards_.load_full_state_dict(state, site); }
  /// The state of an optimizer of `parameters()`, as one of the module's parameters that require a gradient has it, in their order: on
  /// every rank and on the CPU, to be loaded onto any number of ranks and into such an optimizer. Every rank calls it. As
  /// FullyShardedDataParallel.optim_state_dict.
  [[nodiscard]] StateDict optim_state_dict(optim::Optimizer& optimizer, Site site = Site::here()) const {
    return shards_.optim_state_dict(optimizer, site);
  }
  /// Takes such a state over: every rank its part. Error where groups or sizes differ; nothing has changed then.
  void load_optim_state_dict(optim::Optimizer& optimizer, const StateDict& state, Site site = Site::here()) {
    shards_.load_optim_state_dict(optimizer, state, site);
  }
  /// Writes each rank's part to a file of its own in `folder`, which the ranks share, and an index beside them. Every rank calls it.
  void save_shards(const std::string& folder, Site site = Site::here()) const { shards_.save(folder, site); }
  /// Reads what `save_shards` wrote, on any number of ranks.
  void load_shards(const std::string& folder, Site site = Site::here()) { shards_.load(folder, site); }
  /// Scales the gradients so that the norm of all of them, on all ranks, is at most max_norm; gives the norm from before. Every rank calls
  /// it. As nn::utils::clip_grad_norm_ of `parameters()`.
  Tensor clip_grad_norm_(double max_norm, double norm_type = 2, Site site = Site::here()) {
    return shards_.clip_grad_norm_(max_norm, norm_type, site);
  }

 private:
  friend class detail::Wrapper<FullyShardedDataParallel<M>, M>;
  void before(Site site) { shards_.before_forward(site); }
  void after(const std::vector<Tensor>& outputs, Site site) { shards_.after_forward(outputs, site); }

  detail::Shards shards_;
};

}  // namespace tandem::parallel
