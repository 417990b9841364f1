// Averages the gradients of parameters over ranks while backward still computes others. For the library: what DistributedDataParallel is
// built on, for C++ modules and Python's.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/api/distributed.h"
#include "parallel/agreement.h"

namespace tandem::parallel::detail {

/// A bucket that has all its gradients, for a CommHook.
struct FullBucket {
  size_t index = 0;
  bool is_last = false;            // no other comes after it
  Tensor flat;                     // the gradients of this rank, one after another
  std::vector<Tensor> gradients;   // the same, as views in the parameters' sizes
  std::vector<Tensor> parameters;  // whose they are
};
/// Begins to average a bucket otherwise than by all_reduce. What it returns waits for the average and gives it, in `flat` or elsewhere.
using CommHook = std::function<std::function<Tensor()>(const FullBucket&)>;

struct ReducerOptions {
  std::string label;                               // what its collectives are called, the same on all ranks: "DistributedDataParallel 2: "
  distributed::ProcessGroup process_group = {};    // all ranks unless given
  bool find_unused_parameters = false;             // look for parameters that the outputs do not depend on, after each forward
  double first_bucket_mb = 1, bucket_cap_mb = 25;  // MiB of gradients that travel together
  bool gradient_as_bucket_view = true;             // `.grad` becomes a view of its bucket; else it keeps memory of its own
  bool last_beside = false;  // also the last bucket on the CPU is averaged beside the calling thread, so that Ctrl-C ends the wait for it
  std::vector<std::string> delayed = {};  // names of parameters that are averaged after all others
};

class Reducer {
 public:
  static constexpr const char* kName = "DistributedDataParallel";  // in errors

  /// For those of `parameters` that require a gradient, at least one. On all ranks, which have the same ones.
  Reducer(const NamedTensors& parameters, const ReducerOptions& options, Site site);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  /// Before a forward that records gradients, of this rank alone: error where a parameter has changed its device, dtype or requires_grad,
  /// or where the step before was not averaged.
  void check();
  /// Before a forward that is to be averaged, on all ranks: after the first step buckets are put in the order in which gradients come.
  void prepare(Site site);
  /// After a forward: which gradients the backward that comes through its outputs is to average. `all`: there are no others.
  void after_forward(std::span<const Tensor> outputs, bool all);
  /// In place of a forward and a backward, with no gradients of this rank's own. Not before `prepare`.
  void take_part(Site site);

  /// Whether gradients are averaged in the backward of the next forwards.
  [[nodiscard]] bool averages() const;
  void set_averages(bool averages);
  /// What this rank's gradients are multiplied by before the ranks' are added; 1 / the number of ranks unless set. Not where a hook
  /// averages.
  void set_scale(double scale);
  /// What averages buckets from now on.
  void set_comm_hook(CommHook hook);
  /// From now on as with the option `find_unused_parameters`. On all ranks.
  void look_for_unused(Site site);

  /// The names of the parameters in each bucket.
  [[nodiscard]] std::vector<std::vector<std::string>> buckets() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tandem::parallel::detail
