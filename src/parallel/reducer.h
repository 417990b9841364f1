// Averages a module's gradients over ranks while backward still computes others. For the library: see DistributedDataParallel.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "comm/api/distributed.h"
#include "nn/module.h"

namespace tandem::parallel {

struct DistributedDataParallelOptions {
  distributed::ProcessGroup process_group = {};  // all ranks unless given
  bool broadcast_buffers = true;                 // rank 0's buffers, before each forward in training mode
  bool find_unused_parameters = false;           // look for parameters that the outputs do not depend on, after each forward
  double bucket_cap_mb = 25;                     // MiB of gradients that travel together; 1 for the first ones
};

namespace detail {

class Reducer {
 public:
  /// Verifies that all ranks have the same parameters and buffers, and gives them rank 0's values.
  Reducer(nn::ModuleBase& module, const DistributedDataParallelOptions& options, Site site);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Around every forward: buffers, and which gradients the backward that follows is to average.
  void before_forward(Site site);
  void after_forward(std::span<const Tensor> outputs);

  /// Whether gradients are averaged in the backward of the next forwards.
  [[nodiscard]] bool averages() const;
  void set_averages(bool averages);
  /// Runs `steps`, then takes part in what others still do, with no gradients of its own, until all ranks are done.
  void join(const std::function<void()>& steps, Site site);
  /// The weight of this rank's next gradients in the average, inside `join`.
  void set_weight(double weight);

  /// How many buckets there are.
  [[nodiscard]] size_t bucket_count() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace detail
}  // namespace tandem::parallel
