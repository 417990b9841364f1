#include "comm/cuda/backend.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "comm/cuda/nccl.h"
#include "comm/group.h"
#include "runtime/cuda/check.h"

namespace tandem::comm::nccl {
namespace {

/// All ranks of `host`, which may be nullptr.
Meeting meeting_of(Backend* host, int size, int own) {
  Meeting all{host, std::vector<int>(static_cast<size_t>(size)), own};
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  return all;
}

}  // namespace

NcclBackend::NcclBackend(int rank, int size, Device device, std::shared_ptr<Communicator> communicator, Meeting meeting, Backend* told)
    : rank_(rank),
      size_(size),
      device_(device),
      communicator_(std::move(communicator)),
      members_(std::make_shared<Rank>(told)),
      meeting_(std::move(meeting)) {
  members_->add(communicator_);
}

NcclBackend::~NcclBackend() { leave(); }

void NcclBackend::leave() noexcept { close(members_->leave()); }

void NcclBackend::abort(const std::string& reason) noexcept { members_->abort(reason); }

void NcclBackend::queue(const Context& context, const std::shared_ptr<Communicator>& communicator, const char* function, const Work& work) {
  if (context.spoiled) members_->abort(*context.spoiled);
  members_->refuse_dead();
  const Queue queue = runtime::require_driver().queue(context.stream, comm::name(context.call.kind), context.call.site);
  communicator->call(function, Limit::of(context), [&](ncclComm_t comm) { return work(comm, static_cast<cudaStream_t>(queue.stream)); });
  watch(members_, communicator, context, queue);
}

NcclBackend::Pair& NcclBackend::pair_of(const Context& context) {
  const int peer = context.call.root;
  if (context.call.tag != 0) fail("NCCL's messages have no tags: tag is ", context.call.tag, ", but must be 0 for tensors on a GPU");
  if (!meeting_.host) fail("NCCL's messages need a process group: the devices of one process copy to each other without it");
  members_->refuse_dead();
  Pair* pair = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto& made = pairs_[peer];
    if (!made) made = std::make_unique<Pair>();
    pair = made.get();
  }
  const std::lock_guard lock(pair->meeting);
  if (pair->to) return *pair;
  const Limit limit = Limit::of(context);
  const int place = rank_ < peer ? 0 : 1;
  const auto meet = [&] {
    auto made = std::make_shared<Communicator>(device_.index(), 2, place, meeting_.share_id_with(peer, limit, context.call.site));
    members_->add(made);
    made->settle("ncclCommInitRankConfig", limit);
    return made;
  };
  // One for each direction, so that two ranks may both send before either receives.
  const auto first = meet(), second = meet();
  pair->from = place == 0 ? second : first;
  pair->to = place == 0 ? first : second;
  return *pair;
}

std::unique_ptr<Backend> NcclBackend::sub_group(const Context& context, std::span<const int> ranks) {
  members_->refuse_dead();
  const Limit limit = Limit::of(context);
  const auto found = std::find(ranks.begin(), ranks.end(), rank_);
  const bool member = found != ranks.end();
  const int own = member ? static_cast<int>(found - ranks.begin()) : -1, size = static_cast<int>(ranks.size());
  const Meeting meeting = meeting_.part(ranks);
  std::shared_ptr<Communicator> communicator;
  if (functions().ncclCommSplit) {
    communicator = communicator_->split(member ? 0 : NCCL_SPLIT_NOCOLOR, own, limit);
  } else if (member) {
    if (!meeting_.host && size > 1) fail("NCCL ", version(), " cannot make a group of some devices of a process: it needs 2.18 or newer");
    communicator = std::make_shared<Communicator>(device_.index(), size, own, meeting.share_id(limit, context.call.site));
    communicator->settle("ncclCommInitRankConfig", limit);
  }
  if (!member) return nullptr;
  return std::make_unique<NcclBackend>(own, size, device_, std::move(communicator), meeting, nullptr);
}

std::unique_ptr<Backend> make_backend(const Start& start) {
  if (!start.device.is_cuda()) fail("the back end nccl needs a GPU: choose one with cuda::set_device before init_process_group");
  if (const std::string why = why_not(); !why.empty() && !start.host) fail(why);
  if (start.size > 1 && !start.host) fail("the back end nccl needs one for the host beside it: its ranks cannot meet without");
  const Limit limit{Clock::now() + start.timeout, nullptr};
  Meeting meeting = meeting_of(start.host, start.size, start.rank);
  try {
    if (start.host) check_all_can(*start.host, start.device, limit, Site::none());
    auto communicator = std::make_shared<Communicator>(start.device.index(), start.size, start.rank, meeting.share_id(limit, Site::none()));
    communicator->settle("ncclCommInitRankConfig", limit);
    return std::make_unique<NcclBackend>(start.rank, start.size, start.device, std::move(communicator), std::move(meeting), start.host);
  } catch (const std::exception& error) {
    if (start.host) start.host->abort(error.what());  // the others would wait for this rank
    throw;
  }
}

std::vector<std::unique_ptr<Backend>> make_backends(std::span<const Device> devices) {
  if (const std::string why = why_not(); !why.empty()) fail(why);
  for (size_t i = 0; i < devices.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (runtime::cuda_gpu::gpu_behind(devices[i].index()) == runtime::cuda_gpu::gpu_behind(devices[j].index()))
        fail(functions().library.failed("ncclCommInitRankConfig",
                                        tandem::str(devices[j], " and ", devices[i], " are one GPU, which it does not take twice")));
  ncclUniqueId id;
  check(functions().ncclGetUniqueId(&id), "ncclGetUniqueId");
  const int size = static_cast<int>(devices.size());
  std::vector<std::shared_ptr<Communicator>> communicators;
  Held::begin();
  try {
    for (int r = 0; r < size; ++r)
      communicators.push_back(std::make_shared<Communicator>(devices[static_cast<size_t>(r)].index(), size, r, id));
  } catch (...) {
    Held::drop();
    throw;
  }
  Held::end();
  std::vector<std::unique_ptr<Backend>> ranks;
  for (int r = 0; r < size; ++r) {
    auto& communicator = communicators[static_cast<size_t>(r)];
    communicator->settle("ncclCommInitRankConfig", {Clock::now() + kTimeout, nullptr});
    ranks.push_back(std::make_unique<NcclBackend>(r, size, devices[static_cast<size_t>(r)], std::move(communicator),
                                                  meeting_of(nullptr, size, r), nullptr));
  }
  return ranks;
}

}  // namespace tandem::comm::nccl
