// Collectives of the ranks of a program: its processes on one machine or many, or threads. Names and meanings are torch.distributed's.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "comm/types.h"
#include "comm/work.h"
#include "tensor/tensor.h"

namespace tandem::comm {
class Group;
}

namespace tandem::distributed {

using comm::ReduceOp;
using comm::Work;

/// A group of ranks, as this rank sees it. Copies name the same group. Without a value it stands for all ranks.
class ProcessGroup {
 public:
  ProcessGroup() = default;
  explicit ProcessGroup(std::shared_ptr<comm::Group> group, bool member = true) : group_(std::move(group)), member_(member) {}

  /// Whether this rank is one of the group.
  [[nodiscard]] bool is_member() const { return member_; }
  /// This rank's number in the group; -1 where it is not in it.
  [[nodiscard]] int rank() const;
  /// How many ranks are in the group.
  [[nodiscard]] int size() const;
  /// The members' ranks in the whole program.
  [[nodiscard]] std::vector<int> ranks() const;
  /// A number from 1 for what every rank makes of the group in the same order, such as a wrapper: for the labels of its collectives.
  [[nodiscard]] uint64_t next_number() const;
  /// From any thread: all that wait in this group, on any rank that can be reached, end with an error that says `reason`.
  void abort(const std::string& reason) const;
  /// What the flight recorders of its ranks hold that can be seen from here: the last 1,024 calls of each, as lines of text or as JSON.
  [[nodiscard]] std::string recorded_calls(bool json = false) const;
  [[nodiscard]] const std::shared_ptr<comm::Group>& group() const { return group_; }

 private:
  std::shared_ptr<comm::Group> group_;
  bool member_ = true;
};

/// How the ranks find each other. What is left out comes from what started the program, or from the environment (RANK, WORLD_SIZE).
struct InitOptions {
  std::chrono::milliseconds timeout = std::chrono::minutes(30);  // of every wait for another rank
  int rank = -1;
  int world_size = -1;
  std::string init_method = {};  // where ranks of one machine meet: a name that all of them give
};

/// Makes this process one rank of a program. Without `backend`: "mpi" where MPI started the process, "local" (one machine's shared memory)
/// where `tandem launch` did or RANK and WORLD_SIZE are set, else one rank alone. Waits for all ranks. Error where it has been called, or
/// ranks do not come within the timeout.
void init_process_group(std::string_view backend = "", const InitOptions& options = {}, Site site = Site::here());
/// This rank leaves; its later collectives are errors. All groups end with it. Waits for this rank's own work only.
void destroy_process_group(Site site = Site::here());
/// Whether the default process group is there.
[[nodiscard]] bool is_initialized();
/// This rank's number, from 0; -1 where it is not in `group`.
[[nodiscard]] int get_rank(const ProcessGroup& group = {});
/// How many ranks are in `group`, unless given in the whole program.
[[nodiscard]] int get_world_size(const ProcessGroup& group = {});
/// As "mpi".
[[nodiscard]] std::string get_backend(const ProcessGroup& group = {});
/// A group of some ranks. Every rank of the program calls it, with the same ranks.
[[nodiscard]] ProcessGroup new_group(const std::vector<int>& ranks, Site site = Site::here());

/// Of every collective. With async_op the call returns at once, and the tensors must not be used before the Work's wait. On a device calls
/// return at once in any case: the collective is ordered with the work of the current stream like any operation; with async_op it runs
/// beside it, behind what is queued now.
struct CollectiveOptions {
  ProcessGroup group = {};
  bool async_op = false;
  std::string label = {};  // which one of many alike it is: ranks compare it, and errors and the recorder show it
};

// Ranks (src, dst) are those of the whole program, also within a group. Tensors that are not dense are copied on the way. Nothing is
// recorded for gradients: see distributed::nn. Errors: ranks that call different things, or with different dtypes, sizes or labels, each
// told of both calls; a rank that died, left, or does not come within the timeout; integers with AVG.

/// Zeros on the CPU for collectives of `group`: where its ranks are processes of one machine, these tensors lie in memory that all of them
/// reach, so that nothing is copied on the way; elsewhere, and where that memory (256 MiB a rank) is used up, they are like any other. Each
/// rank may call it or not. A forked child does not get a copy of its own. As torch.distributed._symmetric_memory.empty.
[[nodiscard]] Tensor symmetric_zeros(const Shape& sizes, DType dtype, const ProcessGroup& group = {}, Site site = Site::here());
/// In place: all ranks' `t`, reduced.
Work all_reduce(const Tensor& t, ReduceOp op = ReduceOp::SUM, const CollectiveOptions& options = {}, Site site = Site::here());
/// The same for many tensors of one dtype and device in few calls.
Work all_reduce_coalesced(const std::vector<Tensor>& tensors, ReduceOp op = ReduceOp::SUM, const CollectiveOptions& options = {},
                          Site site = Site::here());
/// In place: rank `src`'s `t`.
Work broadcast(const Tensor& t, int src, const CollectiveOptions& options = {}, Site site = Site::here());
/// In place on rank `dst`: all ranks' `t`, reduced. Elsewhere `t` stays as it is.
Work reduce(const Tensor& t, int dst, ReduceOp op = ReduceOp::SUM, const CollectiveOptions& options = {}, Site site = Site::here());
/// Every rank's `t`, in the order of the ranks. Sizes are the same on all of them.
[[nodiscard]] std::vector<Tensor> all_gather(const Tensor& t, const CollectiveOptions& options = {}, Site site = Site::here());
/// Every rank's `in` joined along dimension 0, or stacked where `out` has one dimension more, in `out`.
Work all_gather_into_tensor(const Tensor& out, const Tensor& in, const CollectiveOptions& options = {}, Site site = Site::here());
/// All ranks' `t` reduced, of which this rank gets its part: dimension 0 cut into as many equal parts as there are ranks.
[[nodiscard]] Tensor reduce_scatter(const Tensor& t, ReduceOp op = ReduceOp::SUM, const CollectiveOptions& options = {},
                                    Site site = Site::here());
/// The same into `out`.
Work reduce_scatter_tensor(const Tensor& out, const Tensor& in, ReduceOp op = ReduceOp::SUM, const CollectiveOptions& options = {},
                           Site site = Site::here());
/// inputs[r] goes to rank r; what comes from rank r is the result's r-th. Sizes may differ.
[[nodiscard]] std::vector<Tensor> all_to_all(const std::vector<Tensor>& inputs, const CollectiveOptions& options = {},
                                             Site site = Site::here());
/// Part r of `in` along dimension 0 goes to rank r, and part r of `out` comes from it. Parts are equal unless their sizes are given.
Work all_to_all_single(const Tensor& out, const Tensor& in, const std::vector<int64_t>& output_split_sizes = {},
                       const std::vector<int64_t>& input_split_sizes = {}, const CollectiveOptions& options = {}, Site site = Site::here());
/// Every rank's `t` on rank `dst`; no tensors elsewhere.
[[nodiscard]] std::vector<Tensor> gather(const Tensor& t, int dst = 0, const CollectiveOptions& options = {}, Site site = Site::here());
/// Into `out`: part r of rank `src`'s tensors on rank r. The others give none.
Work scatter(const Tensor& out, const std::vector<Tensor>& parts = {}, int src = 0, const CollectiveOptions& options = {},
             Site site = Site::here());
/// To rank `dst`, which calls recv with a tensor of as many elements. Messages of one pair and tag arrive in their order; those of GPUs and
/// of the CPU are not ordered with each other.
void send(const Tensor& t, int dst, int tag = 0, const CollectiveOptions& options = {}, Site site = Site::here());
void recv(const Tensor& t, int src, int tag = 0, const CollectiveOptions& options = {}, Site site = Site::here());
/// isend and irecv: the same, at once; `t` must not be used before the Work's wait.
[[nodiscard]] Work isend(const Tensor& t, int dst, int tag = 0, const CollectiveOptions& options = {}, Site site = Site::here());
[[nodiscard]] Work irecv(const Tensor& t, int src, int tag = 0, const CollectiveOptions& options = {}, Site site = Site::here());
/// Returns when every rank has called it.
Work barrier(const CollectiveOptions& options = {}, Site site = Site::here());
/// The same with a limit of its own; its error names every rank that is missing.
void monitored_barrier(const ProcessGroup& group = {}, std::chrono::milliseconds timeout = std::chrono::minutes(30),
                       Site site = Site::here());

/// Runs f(rank) on `count` threads that are the ranks of a program of their own: in them, init_process_group has been called, and get_rank
/// and all others speak of that program. Returns when all have ended; throws the first error, by which the others are ended too.
void run_ranks(int count, const std::function<void(int)>& f, const InitOptions& options = {});

}  // namespace tandem::distributed
