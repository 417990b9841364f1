// One module on every rank, each with its share of the data; their gradients are averaged while backward runs.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "parallel/replica.h"
#include "parallel/wrapper.h"

namespace tandem::parallel {

/// Gradients add up on their own rank until the end of the scope, as long as the forwards are called in it; the first backward of a forward
/// outside averages the sum. As the context of DistributedDataParallel.no_sync().
class NoSync {
 public:
  explicit NoSync(std::shared_ptr<detail::Replica> replica) : replica_(std::move(replica)), before_(replica_->averages()) {
    replica_->set_averages(false);
  }
  ~NoSync() { replica_->set_averages(before_); }
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;

 private:
  std::shared_ptr<detail::Replica> replica_;
  bool before_;
};

/// Wraps a module of which every rank has one, made alike by rank 0's parameters and buffers. Calls go to the module; backward adds the
/// average of all ranks' gradients up in the parameters' `.grad`: it divides by the number of ranks, then sums, in buckets and while it
/// computes further gradients. So after each step all ranks have the same parameters, to the bit. Refers to the module, which must outlive
/// this and must not be moved to another device meanwhile. Gradients are views of buckets: they change with the next backward.
///
/// Error where ranks' modules differ, which names the parameter; where parameters are on several devices; without a process group; for a
/// module that is wrapped already. A step that leaves parameters without gradients is an error of the next forward, which names them. Every
/// rank calls forward, and backward, equally often: evaluation on one rank alone goes through `module()`. As
/// torch.nn.parallel.DistributedDataParallel.
template <class M>
class DistributedDataParallel final : public detail::Wrapper<DistributedDataParallel<M>, M> {
 public:
  explicit DistributedDataParallel(M& module, const DistributedDataParallelOptions& options = {}, Site site = Site::here())
      : detail::Wrapper<DistributedDataParallel<M>, M>(module, site), replica_(std::make_shared<detail::Replica>(module, options, site)) {}

  /// `auto quiet = ddp.no_sync();`: gradients of the forwards in this scope stay on their rank.
  [[nodiscard]] NoSync no_sync() { return NoSync(replica_); }
  /// Runs `steps`, in which ranks may take different numbers of steps: one that is done takes part in the others' averages without
  /// gradients of its own. In the end all have the parameters and buffers of the ranks that came last. The average is by the weights of the
  /// ranks that are at work. Every rank calls it. As the context of DistributedDataParallel.join().
  void join(const std::function<void()>& steps, Site site = Site::here()) { replica_->join(steps, site); }
  /// In join: the weight of this rank's next gradients, such as the number of samples in its batch; 1 unless set.
  void set_weight(double weight) { replica_->set_weight(weight); }
  /// How many collectives a step takes for the gradients.
  [[nodiscard]] size_t bucket_count() const { return replica_->bucket_count(); }

 private:
  friend class detail::Wrapper<DistributedDataParallel<M>, M>;
  void before(Site site) { replica_->before_forward(site); }
  void after(const std::vector<Tensor>& outputs, Site) { replica_->after_forward(outputs); }

  std::shared_ptr<detail::Replica> replica_;
};

}  // namespace tandem::parallel
