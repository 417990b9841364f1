// An optimizer whose state is divided among the ranks: each steps its range of the parameters, and gets the others' results.
#pragma once

#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

#include "optim/lbfgs.h"
#include "optim/optimizer.h"
#include "parallel/flat_ranges.h"
#include "parallel/gradient_ranges.h"

namespace tandem::optim {

/// Options of ZeroRedundancyOptimizer besides those of the optimizer.
struct ZeroRedundancyOptions {
  distributed::ProcessGroup process_group = {};  // all ranks unless given
  /// Average gradients, too, each straight into the range of the rank that steps it, while backward goes on (stage 2). Then there is no
  /// DistributedDataParallel: the parameters are made alike by rank 0's values, and after backward `.grad` of a parameter is a vector of
  /// those elements of the average that this rank steps; it is accumulated, clipped, scaled, changed in place and forgotten like any other,
  /// on every rank.
  bool shard_gradients = false;
};

namespace detail {
/// Divided states of all ranks as one dictionary, that of an optimizer that is not divided; and back, this rank's part of it. `ranges` has
/// a group each; states are numbered by pieces where divided, by parameters where whole.
[[nodiscard]] StateDict whole_state(const StateDict& divided, const std::deque<parallel::detail::FlatRanges>& ranges,
                                    const distributed::ProcessGroup& group, Site site);
[[nodiscard]] StateDict divided_state(const StateDict& whole, const std::deque<parallel::detail::FlatRanges>& ranges);
/// Bytes of the tensors of state.
[[nodiscard]] int64_t state_bytes(const StateDict& state);
}  // namespace detail

/// Steps as an `O` of all parameters would, with 1 / ranks of its state on each rank (Rajbhandari et al., "ZeRO: Memory optimizations
/// toward training trillion parameter models", stage 1; stage 2 with shard_gradients). Gradients are expected to be the same on all ranks,
/// as DistributedDataParallel leaves them; then parameters are, too, to the bit. The parameters are moved into flat memory, one piece a
/// group and dtype, on one device.
///
/// Every rank calls step, state_dict and load_state_dict. Error without a process group, and for optimizers that look at a parameter as a
/// whole (LBFGS). As torch.distributed.optim.ZeroRedundancyOptimizer.
template <class O>
class ZeroRedundancyOptimizer final : public Optimizer {
  static_assert(!std::is_same_v<O, LBFGS>, "LBFGS looks at all parameters at once: its state cannot be divided");

 public:
  /// The options of the optimizer that it shards.
  using Options = typename O::Options;

  explicit ZeroRedundancyOptimizer(std::vector<Tensor> params, const Options& options = {}, const ZeroRedundancyOptions& sharding = {},
                                   Site site = Site::here())
      : Optimizer("ZeroRedundancyOptimizer"), sharding_(sharding), inner_(divide(std::move(params), site), options) {}

  /// Another group with options of its own.
  void add_param_group(std::vector<Tensor> params, const Options& options = {}, Site site = Site::here()) {
    options.check();
    inner_.add_param_group(divide(std::move(params), site), options);
  }
  /// The options of each group, with this rank's parts of its parameters.
  [[nodiscard]] auto& param_groups() { return inner_.param_groups(); }

  using Optimizer::step;
  void step(Site site = Site::here()) override {
    for (size_t g = 0; g < ranges_.size(); ++g) {
      ranges_[g].check_places(name(), site);
      if (sharding_.shard_gradients) gradients_[g].check_trained();
      ranges_[g].lend_gradients(name(), site);
    }
    inner_.step(site);
    for (const auto& range : ranges_) {
      range.take_gradients_back();
      range.gather(site);
    }
  }

  void zero_grad(Flag set_to_none = true, Site site = Site::here()) override {
    Optimizer::zero_grad(set_to_none, site);
    for (auto& gradients : gradients_) gradients.give_up_memory();
  }

  /// The state of the whole optimizer, on every rank and on the CPU, as an `O` of all parameters gives it: it can be loaded onto any number
  /// of ranks, and into an `O`.
  [[nodiscard]] StateDict state_dict() const override {
    return detail::whole_state(static_cast<const Optimizer&>(inner_).state_dict(), ranges_, sharding_.process_group, Site::here());
  }
  void load_state_dict(const StateDict& state, Site site = Site::here()) override {
    inner_.load_state_dict(detail::divided_state(state, ranges_), site);
  }
  /// Bytes of state on this rank.
  [[nodiscard]] int64_t state_bytes() const { return detail::state_bytes(static_cast<const Optimizer&>(inner_).state_dict()); }

 protected:
  size_t group_count() const override { return ranges_.size(); }
  ParamGroupView group(size_t i) override {
    const ParamGroupView divided = static_cast<Optimizer&>(inner_).param_groups()[i];
    return {whole_[i], divided.lr, divided.initial_lr, divided.momentum};
  }
  void visit_options(size_t group, detail::Visitor& visitor) override { inner_.param_groups()[group].each(visitor); }
  /// The state is the inner optimizer's, numbered by pieces: state_dict asks it.
  void visit_state(size_t, size_t, detail::Visitor&) override {}

 private:
  /// This rank's pieces of a group, as the inner optimizer's parameters.
  std::vector<Tensor> divide(std::vector<Tensor> params, Site site) {
    check_params(params);
    const auto& range = ranges_.emplace_back("ZeroRedundancyOptimizer", params, sharding_.process_group, site);
    try {
      if (sharding_.shard_gradients) gradients_.emplace_back("ZeroRedundancyOptimizer", range, sharding_.process_group, site);
    } catch (...) {
      ranges_.pop_back();
      throw;
    }
    whole_.push_back(std::move(params));
    std::vector<Tensor> pieces;
    for (const auto& piece : range.pieces()) pieces.push_back(piece.values);
    return pieces;
  }

  ZeroRedundancyOptions sharding_;
  std::deque<parallel::detail::FlatRanges> ranges_;  // as the groups
  std::deque<parallel::detail::GradientRanges> gradients_;
  std::deque<std::vector<Tensor>> whole_;
  O inner_;
};

}  // namespace tandem::optim
