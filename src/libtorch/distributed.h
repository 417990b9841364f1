// c10d: process groups as libtorch's programs make them, by hand, of MPI's ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/api/distributed.h"
#include "libtorch/types.h"

namespace c10d {

using tandem::Site;
using tandem::comm::ReduceOp;

/// How the ranks' tensors become one.
struct AllreduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
};
/// The same, on one rank.
struct ReduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  int64_t rootRank = 0;
};
/// Whose tensors all get. rootTensor is 0: a call has one tensor.
struct BroadcastOptions {
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
};
struct AllgatherOptions {};
struct BarrierOptions {};

/// A group of ranks: collectives take lists of one tensor, as on libtorch's CPU, change it in place, and return at once.
class ProcessGroup {
 public:
  /// A collective that has been asked for.
  class Work {
   public:
    explicit Work(tandem::comm::Work work, std::vector<torch::Tensor> result = {}) : work_(std::move(work)), result_(std::move(result)) {}
    /// Whether it is done, well or badly.
    [[nodiscard]] bool isCompleted() const { return work_.is_completed(); }
    /// Waits for it; throws what went wrong. True.
    bool wait(std::chrono::milliseconds = std::chrono::milliseconds(0), Site site = Site::here()) const;
    /// What it gave.
    [[nodiscard]] std::vector<torch::Tensor> result() const { return result_; }

   private:
    tandem::comm::Work work_;
    std::vector<torch::Tensor> result_;
  };

  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  virtual ~ProcessGroup();

  /// This rank's number in the group, and how many ranks it has.
  [[nodiscard]] int getRank() const { return group_.rank(); }
  [[nodiscard]] int getSize() const { return group_.size(); }
  /// As "mpi".
  [[nodiscard]] std::string getBackendName() const;

  // --- Collectives. Each rank calls the same ones in the same order; ranks are those of the group.
  /// All ranks' tensors, reduced, on every rank.
  std::shared_ptr<Work> allreduce(std::vector<torch::Tensor>& tensors, const AllreduceOptions& options = {}, Site site = Site::here());
  /// The same on options.rootRank alone.
  std::shared_ptr<Work> reduce(std::vector<torch::Tensor>& tensors, const ReduceOptions& options = {}, Site site = Site::here());
  /// The tensor of options.rootRank on every rank.
  std::shared_ptr<Work> broadcast(std::vector<torch::Tensor>& tensors, const BroadcastOptions& options = {}, Site site = Site::here());
  /// Every rank's tensor, in the order of the ranks, in the one list of `outputs`.
  std::shared_ptr<Work> allgather(std::vector<std::vector<torch::Tensor>>& outputs, std::vector<torch::Tensor>& inputs,
                                  const AllgatherOptions& options = {}, Site site = Site::here());
  /// Done when every rank has called it.
  std::shared_ptr<Work> barrier(const BarrierOptions& options = {}, Site site = Site::here());
  /// A tensor to a rank, which calls recv with one of as many elements.
  std::shared_ptr<Work> send(std::vector<torch::Tensor>& tensors, int destination, int tag, Site site = Site::here());
  std::shared_ptr<Work> recv(std::vector<torch::Tensor>& tensors, int source, int tag, Site site = Site::here());

 protected:
  explicit ProcessGroup(tandem::distributed::ProcessGroup group) : group_(std::move(group)) {}

  tandem::distributed::ProcessGroup group_;
};

/// The ranks that MPI started.
class ProcessGroupMPI : public ProcessGroup {
 public:
  /// A group of these ranks, of all where none are named. All ranks call it, with the same list. Waits for all of them. Nothing for a rank
  /// that is not in the list. A process that MPI did not start is a group by itself. Error where there is no MPI.
  [[nodiscard]] static std::shared_ptr<ProcessGroupMPI> createProcessGroupMPI(const std::vector<int>& ranks = {}, Site site = Site::here());
  ~ProcessGroupMPI() override;
  /// Ends all that waits in this group, on every rank, with an error.
  void abort();

 private:
  explicit ProcessGroupMPI(tandem::distributed::ProcessGroup group) : ProcessGroup(std::move(group)) {}
};

}  // namespace c10d
