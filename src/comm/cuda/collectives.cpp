// How each collective is done with NCCL.
#include <cuda_runtime.h>

#include <algorithm>

#include "comm/cuda/backend.h"
#include "comm/cuda/nccl.h"
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

/// Converts elements into another dtype, on the queue.
void convert(const Queue& queue, const kernels::Out& out, const kernels::View& in) {
  if (in.sizes[0] == 0) return;
  Status status;
  Queue with_status = queue;
  with_status.status = &status;
  kernels::cuda::table().copy(with_status, out, in);
  const Trouble trouble = status.trouble.load();
  if (trouble != Trouble::None)
    runtime::throw_trouble(queue.op, trouble, runtime::trouble_text(queue.op, trouble, status.a.load(), status.b.load()));
}

/// Memory of the device for as long as the work that is queued meanwhile.
class Scratch {
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

}  // namespace

/// A call that is run: NCCL's functions for each kind, queued on the context's stream.
class NcclBackend::Algorithms {
 public:
  Algorithms(NcclBackend& group, const Context& context)
      : group_(group),
        context_(context),
        call_(context.call),
        count_(elements(call_.count())),
        bytes_(count_ * size_of(call_.dtype)),
        rank_(group.rank_),
        size_(group.size_) {}

  void all_reduce() {
    const auto reduce = [&](void* all, ncclComm_t comm, cudaStream_t stream) {
      return functions().ncclAllReduce(all, all, count_, type_of(call_.dtype), operation(), comm, stream);
    };
    if (is_wide()) return reduce_wide("ncclAllReduce", call_.count(), call_.count(), 0, reduce);
    queue("ncclAllReduce", [&](ncclComm_t comm, cudaStream_t stream) { return reduce(call_.out, comm, stream); });
  }

  void reduce() {
    const auto reduce = [&](void* all, ncclComm_t comm, cudaStream_t stream) {
      return functions().ncclReduce(all, all, count_, type_of(call_.dtype), operation(), call_.root, comm, stream);
    };
    if (is_wide()) return reduce_wide("ncclReduce", call_.count(), call_.root == rank_ ? call_.count() : 0, 0, reduce);
    queue("ncclReduce", [&](ncclComm_t comm, cudaStream_t stream) { return reduce(const_cast<void*>(call_.in), comm, stream); });
  }

  void reduce_scatter() {
    const auto reduce = [&](const void* all, void* part, ncclComm_t comm, cudaStream_t stream) {
      return functions().ncclReduceScatter(all, part, count_, type_of(call_.dtype), operation(), comm, stream);
    };
    const char* const function = "ncclReduceScatter";
    if (is_wide()) {
      const int64_t first = rank_ * call_.count();
      return reduce_wide(function, size_ * call_.count(), call_.count(), first,
                         [&](int32_t* wide, ncclComm_t comm, cudaStream_t stream) { return reduce(wide, wide + first, comm, stream); });
    }
    queue(function, [&](ncclComm_t comm, cudaStream_t stream) { return reduce(call_.in, call_.out, comm, stream); });
  }

  // What is only moved is moved as bytes.

  void broadcast() {
    void* const data = rank_ == call_.root ? const_cast<void*>(call_.in) : call_.out;
    queue("ncclBroadcast", [&](ncclComm_t comm, cudaStream_t stream) {
      return functions().ncclBroadcast(data, data, bytes_, ncclUint8, call_.root, comm, stream);
    });
  }

  void all_gather() {
    queue("ncclAllGather", [&](ncclComm_t comm, cudaStream_t stream) {
      return functions().ncclAllGather(call_.in, call_.out, bytes_, ncclUint8, comm, stream);
    });
  }

  void all_to_all() {
    queue("ncclSend", [&](ncclComm_t comm, cudaStream_t stream) {
      return together([&](auto note) {
        const void* in = call_.in;
        void* out = call_.out;
        for (int r = 0; r < size_; ++r) {
          const auto part = static_cast<size_t>(r);
          const size_t to = elements(call_.in_counts[part]) * size_of(call_.dtype);
          const size_t from = elements(call_.out_counts[part]) * size_of(call_.dtype);
          if (to > 0) note(functions().ncclSend(in, to, ncclUint8, r, comm, stream));
          if (from > 0) note(functions().ncclRecv(out, from, ncclUint8, r, comm, stream));
          in = at(in, to);
          out = at(out, from);
        }
      });
    });
  }

  void gather() {
    queue("ncclSend", [&](ncclComm_t comm, cudaStream_t stream) {
      return together([&](auto note) {
        note(functions().ncclSend(call_.in, bytes_, ncclUint8, call_.root, comm, stream));
        for (int r = 0; rank_ == call_.root && r < size_; ++r)
          note(functions().ncclRecv(at(call_.out, static_cast<size_t>(r) * bytes_), bytes_, ncclUint8, r, comm, stream));
      });
    });
  }

  void scatter() {
    queue("ncclRecv", [&](ncclComm_t comm, cudaStream_t stream) {
      return together([&](auto note) {
        for (int r = 0; rank_ == call_.root && r < size_; ++r)
          note(functions().ncclSend(at(call_.in, static_cast<size_t>(r) * bytes_), bytes_, ncclUint8, r, comm, stream));
        note(functions().ncclRecv(call_.out, bytes_, ncclUint8, call_.root, comm, stream));
      });
    });
  }

  void barrier() {
    const Scratch scratch(1, static_cast<cudaStream_t>(device_queue().stream));
    queue("ncclAllReduce", [&](ncclComm_t comm, cudaStream_t stream) {
      return functions().ncclAllReduce(scratch.address(), scratch.address(), 1, ncclUint8, ncclMax, comm, stream);
    });
    runtime::require_driver().synchronize_stream(context_.stream, call_.site);
  }

  void send() {
    group_.queue(context_, group_.pair_of(context_).to, "ncclSend", [&](ncclComm_t comm, cudaStream_t stream) {
      return functions().ncclSend(call_.in, bytes_, ncclUint8, rank_ < call_.root ? 1 : 0, comm, stream);
    });
  }

  void recv() {
    group_.queue(context_, group_.pair_of(context_).from, "ncclRecv", [&](ncclComm_t comm, cudaStream_t stream) {
      return functions().ncclRecv(call_.out, bytes_, ncclUint8, rank_ < call_.root ? 1 : 0, comm, stream);
    });
  }

 private:
  void queue(const char* function, const Work& work) { group_.queue(context_, group_.communicator_, function, work); }
  [[nodiscard]] ncclRedOp_t operation() const { return operation_of(call_.op, call_.dtype); }
  [[nodiscard]] Queue device_queue() const { return runtime::require_driver().queue(context_.stream, comm::name(call_.kind), call_.site); }

  /// Whether it is reduced in a wider dtype, as NCCL lacks its own.
  [[nodiscard]] bool is_wide() const { return call_.dtype == kInt16; }
  /// Reduces int16 in int32: `work` gets the widened elements of the call's `in`, `in_count` of them, and leaves its result among them from
  /// `at` on, where `out_count` elements are taken for its `out`.
  using WideWork = std::function<ncclResult_t(int32_t* wide, ncclComm_t, cudaStream_t)>;
  void reduce_wide(const char* function, int64_t in_count, int64_t out_count, int64_t at, const WideWork& work) {
    group_.members_->refuse_dead();
    const Queue queue = device_queue();
    const auto scratch =
        std::make_shared<Scratch>(std::max<size_t>(elements(in_count), 1) * sizeof(int32_t), static_cast<cudaStream_t>(queue.stream));
    auto* const wide = static_cast<int32_t*>(scratch->address());
    convert(queue, dense(wide, in_count, kInt32), dense(const_cast<void*>(call_.in), in_count, kInt16));
    this->queue(function, [&](ncclComm_t comm, cudaStream_t stream) { return work(wide, comm, stream); });
    Held::afterwards([queue, scratch, wide, out = call_.out, out_count, at, device = group_.device_.index()] {
      const CudaDeviceGuard current(device);  // calls of other devices' ranks may have come between
      convert(queue, dense(out, out_count, kInt16), dense(wide + at, out_count, kInt32));
    });
  }

  NcclBackend& group_;
  const Context& context_;
  const Call& call_;
  const size_t count_, bytes_;
  const int rank_, size_;
};

void NcclBackend::run(const Context& context) {
  Algorithms call(*this, context);
  switch (context.call.kind) {
    case Collective::AllReduce: return call.all_reduce();
    case Collective::Broadcast: return call.broadcast();
    case Collective::Reduce: return call.reduce();
    case Collective::AllGather: return call.all_gather();
    case Collective::ReduceScatter: return call.reduce_scatter();
    case Collective::AllToAll: return call.all_to_all();
    case Collective::Gather: return call.gather();
    case Collective::Scatter: return call.scatter();
    case Collective::Barrier:
    case Collective::NewGroup: return call.barrier();
    case Collective::Send: return call.send();
    case Collective::Recv: return call.recv();
  }
}

}  // namespace tandem::comm::nccl
