#include "libtorch/distributed.h"

#include "base/error.h"

namespace c10d {
namespace {

namespace td = tandem::distributed;

/// The one tensor of a call.
const torch::Tensor& only(const char* name, const std::vector<torch::Tensor>& tensors) {
  if (tensors.size() != 1) tandem::fail("[ProcessGroup.", name, "] takes a list of one tensor, got ", tensors.size());
  return tensors[0];
}

std::shared_ptr<ProcessGroup::Work> working(tandem::comm::Work work, std::vector<torch::Tensor> result) {
  return std::make_shared<ProcessGroup::Work>(std::move(work), std::move(result));
}

/// The group's rank as one of the whole program.
int in_program(const td::ProcessGroup& group, const char* name, int64_t rank) {
  const std::vector<int> ranks = group.ranks();
  if (rank < 0 || rank >= static_cast<int64_t>(ranks.size()))
    tandem::fail("[ProcessGroup.", name, "] rank ", rank, " is none of the group's ", ranks.size());
  return ranks[static_cast<size_t>(rank)];
}

}  // namespace

bool ProcessGroup::Work::wait(std::chrono::milliseconds /*timeout*/, Site site) const {
  work_.wait(site);
  return true;
}

ProcessGroup::~ProcessGroup() = default;

std::string ProcessGroup::getBackendName() const { return td::get_backend(group_); }

std::shared_ptr<ProcessGroup::Work> ProcessGroup::allreduce(std::vector<torch::Tensor>& tensors, const AllreduceOptions& options,
                                                            Site site) {
  return working(td::all_reduce(only("allreduce", tensors), options.reduceOp, {.group = group_, .async_op = true}, site), tensors);
}

std::shared_ptr<ProcessGroup::Work> ProcessGroup::reduce(std::vector<torch::Tensor>& tensors, const ReduceOptions& options, Site site) {
  const int root = in_program(group_, "reduce", options.rootRank);
  return working(td::reduce(only("reduce", tensors), root, options.reduceOp, {.group = group_, .async_op = true}, site), tensors);
}

std::shared_ptr<ProcessGroup::Work> ProcessGroup::broadcast(std::vector<torch::Tensor>& tensors, const BroadcastOptions& options,
                                                            Site site) {
  const int root = in_program(group_, "broadcast", options.rootRank);
  return working(td::broadcast(only("broadcast", tensors), root, {.group = group_, .async_op = true}, site), tensors);
}

std::shared_ptr<ProcessGroup::Work> ProcessGroup::allgather(std::vector<std::vector<torch::Tensor>>& outputs,
                                                            std::vector<torch::Tensor>& inputs, const AllgatherOptions& /*options*/,
                                                            Site site) {
  const torch::Tensor& input = only("allgather", inputs);
  if (outputs.size() != 1) tandem::fail("[ProcessGroup.allgather] takes one list of outputs, got ", outputs.size());
  if (outputs[0].size() != static_cast<size_t>(getSize()))
    tandem::fail("[ProcessGroup.allgather] takes an output for each of the group's ", getSize(), " ranks, got ", outputs[0].size());
  const std::vector<torch::Tensor> all = td::all_gather(input, {.group = group_}, site);
  for (size_t i = 0; i < all.size(); ++i) outputs[0][i].copy_(all[i], false, site);
  return working({}, outputs[0]);
}

std::shared_ptr<ProcessGroup::Work> ProcessGroup::barrier(const BarrierOptions& /*options*/, Site site) {
  td::barrier({.group = group_}, site);
  return working({}, {});
}

std::shared_ptr<ProcessGroup::Work> ProcessGroup::send(std::vector<torch::Tensor>& tensors, int destination, int tag, Site site) {
  return working(td::isend(only("send", tensors), in_program(group_, "send", destination), tag, {.group = group_}, site), tensors);
}

std::shared_ptr<ProcessGroup::Work> ProcessGroup::recv(std::vector<torch::Tensor>& tensors, int source, int tag, Site site) {
  return working(td::irecv(only("recv", tensors), in_program(group_, "recv", source), tag, {.group = group_}, site), tensors);
}

std::shared_ptr<ProcessGroupMPI> ProcessGroupMPI::createProcessGroupMPI(const std::vector<int>& ranks, Site site) {
  if (!td::is_initialized()) td::init_process_group("mpi", {}, site);
  std::vector<int> members = ranks;
  for (int rank = 0; ranks.empty() && rank < td::get_world_size(); ++rank) members.push_back(rank);
  td::ProcessGroup group = td::new_group(members, site);
  if (!group.is_member()) return nullptr;
  return std::shared_ptr<ProcessGroupMPI>(new ProcessGroupMPI(std::move(group)));
}

ProcessGroupMPI::~ProcessGroupMPI() = default;

void ProcessGroupMPI::abort() { group_.abort("a rank called abort"); }

}  // namespace c10d
