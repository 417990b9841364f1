#include "comm/cuda/backend.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "comm/cuda/nccl.h"
#include "comm/group.h"
#include "kernels/cuda/table.h"
#include "runtime/cuda/check.h"
#include "runtime/launch.h"

namespace tandem::comm::nccl {
namespace {

using runtime::cuda_gpu::CudaDeviceGuard;

size_t elements(int64_t count) { return static_cast<size_t>(count); }

/// `bytes` from `address` on.
void* at(void* address, size_t bytes) { return static_cast<char*>(address) + bytes; }
const void* at(const void* address, size_t bytes) { return static_cast<const char*>(address) + bytes; }

/// Several sends and receives that begin together; the first result that is an error.
template <class F>
ncclResult_t together(F f) {
  ncclResult_t first = functions().ncclGroupStart();
  if (first != ncclSuccess) return first;
  f([&](ncclResult_t result) {
    if (first == ncclSuccess || first == ncclInProgress) first = result;
  });
  const ncclResult_t last = functions().ncclGroupEnd();
  return first == ncclSuccess || first == ncclInProgress ? last : first;
}

/// `count` elements that follow each other.
kernels::Out dense(void* data, int64_t count, DType dtype) {
  kernels::Out out;
  out.data = data;
  out.dtype = dtype;
  out.ndim = 1;
  out.sizes[0] = count;
  out.strides[0] = 1;
  return out;
}

/// All ranks of `host`, which may be nullptr.
Meeting meeting_of(Backend* host, int size, int own) {
  Meeting all{host, std::vector<int>(static_cast<size_t>(size)), own};
  std::iota(all.ranks.begin(), all.ranks.end(), 0);
  return all;
}

/// Converts elements into another dtype, on the queue.
void convert(const Queue& queue, const kernels::Out& out, const kernels::View& in) {
  if (in.sizes[0] == 0) return;
  Status status;
  Queue with_status = queue;
  with_status.status = &status;
  kernels::cuda::table().copy(with_status, out, in);
  const Trouble trouble = status.trouble.load();
  if (trouble != Trouble::None) runtime::throw_trouble(trouble, runtime::trouble_text(queue.op, trouble, status.a.load(), status.b.load()));
}

}  // namespace

/// Memory of the device for as long as the work that is queued meanwhile.
class NcclBackend::Scratch {
 public:
  Scratch(size_t bytes, cudaStream_t stream) : stream_(stream) {
    runtime::cuda_gpu::check(cudaMallocAsync(&address_, bytes, stream), "cudaMallocAsync");
  }
  ~Scratch() { (void)cudaFreeAsync(address_, stream_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] void* address() const { return address_; }

 private:
  void* address_ = nullptr;
  cudaStream_t stream_;
};

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

void NcclBackend::reduce_wide(const Context& context, const char* function, const void* in, int64_t in_count, void* out, int64_t out_count,
                              int64_t at, const WideWork& work) {
  members_->refuse_dead();
  const Queue queue = runtime::require_driver().queue(context.stream, comm::name(context.call.kind), context.call.site);
  const auto scratch =
      std::make_shared<Scratch>(std::max<size_t>(elements(in_count), 1) * sizeof(int32_t), static_cast<cudaStream_t>(queue.stream));
  auto* const wide = static_cast<int32_t*>(scratch->address());
  convert(queue, dense(wide, in_count, kInt32), dense(const_cast<void*>(in), in_count, kInt16));
  this->queue(context, communicator_, function, [&](ncclComm_t comm, cudaStream_t stream) { return work(wide, comm, stream); });
  Held::afterwards([queue, scratch, wide, out, out_count, at, device = device_.index()] {
    const CudaDeviceGuard current(device);  // calls of other devices' ranks may have come between
    convert(queue, dense(out, out_count, kInt16), dense(wide + at, out_count, kInt32));
  });
}

void NcclBackend::all_reduce(const Context& context, void* data, int64_t count, DType dtype, ReduceOp op) {
  const auto reduce = [&](void* all, ncclComm_t comm, cudaStream_t stream) {
    return functions().ncclAllReduce(all, all, elements(count), type_of(dtype), operation_of(op, dtype), comm, stream);
  };
  if (dtype == kInt16) return reduce_wide(context, "ncclAllReduce", data, count, data, count, 0, reduce);
  queue(context, communicator_, "ncclAllReduce", [&](ncclComm_t comm, cudaStream_t stream) { return reduce(data, comm, stream); });
}

void NcclBackend::reduce(const Context& context, void* data, int64_t count, DType dtype, ReduceOp op, int root) {
  const auto reduce = [&](void* all, ncclComm_t comm, cudaStream_t stream) {
    return functions().ncclReduce(all, all, elements(count), type_of(dtype), operation_of(op, dtype), root, comm, stream);
  };
  if (dtype == kInt16) return reduce_wide(context, "ncclReduce", data, count, data, root == rank_ ? count : 0, 0, reduce);
  queue(context, communicator_, "ncclReduce", [&](ncclComm_t comm, cudaStream_t stream) { return reduce(data, comm, stream); });
}

void NcclBackend::reduce_scatter(const Context& context, void* out, const void* in, int64_t count, DType dtype, ReduceOp op) {
  const auto reduce = [&](const void* all, void* part, ncclComm_t comm, cudaStream_t stream) {
    return functions().ncclReduceScatter(all, part, elements(count), type_of(dtype), operation_of(op, dtype), comm, stream);
  };
  const char* const function = "ncclReduceScatter";
  if (dtype == kInt16) {
    const int64_t first = rank_ * count;
    return reduce_wide(context, function, in, size_ * count, out, count, first,
                       [&](int32_t* wide, ncclComm_t comm, cudaStream_t stream) { return reduce(wide, wide + first, comm, stream); });
  }
  queue(context, communicator_, function, [&](ncclComm_t comm, cudaStream_t stream) { return reduce(in, out, comm, stream); });
}

// What is only moved is moved as bytes.

void NcclBackend::broadcast(const Context& context, void* data, int64_t count, DType dtype, int root) {
  queue(context, communicator_, "ncclBroadcast", [&](ncclComm_t comm, cudaStream_t stream) {
    return functions().ncclBroadcast(data, data, elements(count) * size_of(dtype), ncclUint8, root, comm, stream);
  });
}

void NcclBackend::all_gather(const Context& context, void* out, const void* in, int64_t count, DType dtype) {
  queue(context, communicator_, "ncclAllGather", [&](ncclComm_t comm, cudaStream_t stream) {
    return functions().ncclAllGather(in, out, elements(count) * size_of(dtype), ncclUint8, comm, stream);
  });
}

void NcclBackend::all_to_all(const Context& context, void* out, const int64_t* out_counts, const void* in, const int64_t* in_counts,
                             DType dtype) {
  queue(context, communicator_, "ncclSend", [&](ncclComm_t comm, cudaStream_t stream) {
    return together([&](auto note) {
      for (int r = 0; r < size_; ++r) {
        const size_t to = elements(in_counts[r]) * size_of(dtype), from = elements(out_counts[r]) * size_of(dtype);
        if (to > 0) note(functions().ncclSend(in, to, ncclUint8, r, comm, stream));
        if (from > 0) note(functions().ncclRecv(out, from, ncclUint8, r, comm, stream));
        in = at(in, to);
        out = at(out, from);
      }
    });
  });
}

void NcclBackend::gather(const Context& context, void* out, const void* in, int64_t count, DType dtype, int root) {
  const size_t bytes = elements(count) * size_of(dtype);
  queue(context, communicator_, "ncclSend", [&](ncclComm_t comm, cudaStream_t stream) {
    return together([&](auto note) {
      note(functions().ncclSend(in, bytes, ncclUint8, root, comm, stream));
      for (int r = 0; rank_ == root && r < size_; ++r)
        note(functions().ncclRecv(at(out, static_cast<size_t>(r) * bytes), bytes, ncclUint8, r, comm, stream));
    });
  });
}

void NcclBackend::scatter(const Context& context, void* out, const void* in, int64_t count, DType dtype, int root) {
  const size_t bytes = elements(count) * size_of(dtype);
  queue(context, communicator_, "ncclRecv", [&](ncclComm_t comm, cudaStream_t stream) {
    return together([&](auto note) {
      for (int r = 0; rank_ == root && r < size_; ++r)
        note(functions().ncclSend(at(in, static_cast<size_t>(r) * bytes), bytes, ncclUint8, r, comm, stream));
      note(functions().ncclRecv(out, bytes, ncclUint8, root, comm, stream));
    });
  });
}

void NcclBackend::barrier(const Context& context) {
  const Queue queue = runtime::require_driver().queue(context.stream, comm::name(context.call.kind), context.call.site);
  const Scratch scratch(1, static_cast<cudaStream_t>(queue.stream));
  this->queue(context, communicator_, "ncclAllReduce", [&](ncclComm_t comm, cudaStream_t stream) {
    return functions().ncclAllReduce(scratch.address(), scratch.address(), 1, ncclUint8, ncclMax, comm, stream);
  });
  runtime::require_driver().synchronize_stream(context.stream, context.call.site);
}

NcclBackend::Pair& NcclBackend::pair_with(const Context& context, int peer, int tag) {
  if (tag != 0) fail("NCCL's messages have no tags: tag is ", tag, ", but must be 0 for tensors on a GPU");
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

void NcclBackend::send(const Context& context, const void* data, int64_t count, DType dtype, int peer, int tag) {
  queue(context, pair_with(context, peer, tag).to, "ncclSend", [&](ncclComm_t comm, cudaStream_t stream) {
    return functions().ncclSend(data, elements(count) * size_of(dtype), ncclUint8, rank_ < peer ? 1 : 0, comm, stream);
  });
}

void NcclBackend::recv(const Context& context, void* data, int64_t count, DType dtype, int peer, int tag) {
  queue(context, pair_with(context, peer, tag).from, "ncclRecv", [&](ncclComm_t comm, cudaStream_t stream) {
    return functions().ncclRecv(data, elements(count) * size_of(dtype), ncclUint8, rank_ < peer ? 1 : 0, comm, stream);
  });
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
