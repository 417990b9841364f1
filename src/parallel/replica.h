// A module of which every rank has one. For the library: see DistributedDataParallel.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nn/module.h"
#include "parallel/reducer.h"

namespace tandem::parallel {

struct DistributedDataParallelOptions {
  distributed::ProcessGroup process_group = {};  // all ranks unless given
  bool broadcast_buffers = true;                 // rank 0's buffers, before each forward in training mode
  bool find_unused_parameters = false;           // look for parameters that the outputs do not depend on, after each forward
  double bucket_cap_mb = 25;                     // MiB of gradients that travel together; 1 for the first ones
};

namespace detail {

/// Parameters that a replica averages the gradients of: a second one would average them again.
class Claim {
 public:
  /// Error where one of those that require a gradient is another's.
  explicit Claim(const NamedTensors& parameters);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

 private:
  std::vector<const TensorImpl*> parameters_;
};

class Replica {
 public:
  /// Verifies that all ranks have the same parameters and buffers, and gives them rank 0's values.
  Replica(nn::ModuleBase& module, const DistributedDataParallelOptions& options, Site site);

  /// Around every forward: buffers, and which gradients the backward that follows is to average.
  void before_forward(Site site);
  void after_forward(std::span<const Tensor> outputs);

  /// Whether gradients are averaged in the backward of the next forwards.
  [[nodiscard]] bool averages() const { return reducer_.averages(); }
  void set_averages(bool averages) { reducer_.set_averages(averages); }
  /// Runs `steps`, then takes part in what others still do, with no gradients of its own, until all ranks are done.
  void join(const std::function<void()>& steps, Site site);
  /// The weight of this rank's next gradients in the average, inside `join`.
  void set_weight(double weight);
  /// How many buckets there are.
  [[nodiscard]] size_t bucket_count() const { return reducer_.buckets().size(); }

 private:
  /// What all ranks do next in a join: whether any is still at work, and whether gradients are averaged.
  struct Round {
    bool at_work = false, averaged = false;
  };
  Round exchange(double own, bool averages, Site site);
  bool shadow(Site site);
  void send_buffers(Site site);

  nn::ModuleBase& module_;
  DistributedDataParallelOptions options_;
  NamedTensors parameters_;
  Claim claim_;
  std::string label_;  // of its collectives
  Reducer reducer_;
  SharedBuffers buffers_;
  bool joining_ = false;
  double weight_ = 1;
  int source_ = 0;  // whose buffers count; in a join, the first rank that is still at work
};

}  // namespace detail
}  // namespace tandem::parallel
