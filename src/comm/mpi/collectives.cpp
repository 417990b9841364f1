// How each collective is done with MPI. Reductions are made of messages: MPI's own non-blocking ones take up to twice as long as these
// where messages are large, cannot add half types, and choose the order of the sums themselves.
#include <algorithm>
#include <functional>

#include "comm/local/reduce.h"
#include "comm/mpi/backend.h"
#include "comm/mpi/types.h"

namespace tandem::comm::mpi {
namespace {

// Reductions go in pieces of this size, which their scratch memory is made for; below the other size one message does.
constexpr int64_t kPieceBytes = int64_t{8} << 20, kSmallBytes = int64_t{16} << 10;

/// Elements of one rank's buffer.
struct Share {
  const void* data = nullptr;
  int64_t count = 0;
};
using Shares = std::vector<Share>;
using Requests = std::vector<MPI_Request>;

}  // namespace

/// A call that is run: an algorithm for each kind, over what the group has.
class MpiBackend::Algorithms {
 public:
  Algorithms(MpiBackend& group, const Context& context)
      : group_(group),
        context_(context),
        call_(context.call),
        dtype_(call_.dtype),
        count_(call_.count()),
        rank_(group.rank_),
        size_(group.size()),
        comm_(group.comm_) {}

  void all_reduce() {
    if (bytes_of(count_ * size_) <= kSmallBytes) return all_reduce_in_one_round();
    reduce_shares(call_.out, true, [&](const Shares& shares, const void* own) {
      operate(kPieceBytes, [&](Requests& requests) {
        requests.assign(2 * shares.size(), MPI_REQUEST_NULL);
        MPI_Request* next = requests.data();
        const int64_t count_of_own = shares[static_cast<size_t>(rank_)].count;
        int code = MPI_SUCCESS;
        for (int i = 1; i < size_ && code == MPI_SUCCESS; ++i) {
          const int rank = (rank_ + i) % size_;
          const Share& part = shares[static_cast<size_t>(rank)];
          if (part.count > 0)
            code = MPI_Irecv(const_cast<void*>(part.data), static_cast<int>(part.count), type_of(dtype_), rank, 0, comm_, next++);
          if (count_of_own > 0 && code == MPI_SUCCESS)
            code = MPI_Isend(own, static_cast<int>(count_of_own), type_of(dtype_), rank, 0, comm_, next++);
        }
        return code;
      });
    });
  }

  void broadcast() {
    void* const data = rank_ == call_.root ? const_cast<void*>(call_.in) : call_.out;
    operate(bytes_of(count_), [&](Requests& requests) {
      const ManyType many(count_, dtype_);
      return MPI_Ibcast(data, many.count(), many.type(), call_.root, comm_, requests.data());
    });
  }

  void reduce() {
    const bool is_root = rank_ == call_.root;
    reduce_shares(call_.in, is_root, [&](const Shares& shares, const void* own) {
      operate(kPieceBytes, [&](Requests& requests) {
        const int64_t count_of_own = shares[static_cast<size_t>(rank_)].count;
        if (!is_root) {
          return count_of_own == 0 ? MPI_SUCCESS
                                   : MPI_Isend(own, static_cast<int>(count_of_own), type_of(dtype_), call_.root, 0, comm_, requests.data());
        }
        requests.assign(shares.size(), MPI_REQUEST_NULL);
        int code = MPI_SUCCESS;
        for (int rank = 0; rank < size_ && code == MPI_SUCCESS; ++rank) {
          const Share& part = shares[static_cast<size_t>(rank)];
          if (rank == call_.root || part.count == 0) continue;
          code = MPI_Irecv(const_cast<void*>(part.data), static_cast<int>(part.count), type_of(dtype_), rank, 0, comm_,
                           &requests[static_cast<size_t>(rank)]);
        }
        return code;
      });
    });
  }

  void all_gather() {
    operate(bytes_of(count_ * size_), [&](Requests& requests) {
      const ManyType many(count_, dtype_);
      const bool in_place = call_.in == at(call_.out, rank_ * count_);
      return MPI_Iallgather(in_place ? MPI_IN_PLACE : call_.in, many.count(), many.type(), call_.out, many.count(), many.type(), comm_,
                            requests.data());
    });
  }

  void reduce_scatter() {
    const int64_t most = std::max<int64_t>(1, kPieceBytes / bytes_of(1) / size_);
    Shares parts(static_cast<size_t>(size_));
    for (int64_t begin = 0; begin < count_ || begin == 0; begin += most) {
      const int64_t piece = std::min(most, count_ - begin);
      for (int rank = 0; rank < size_; ++rank) parts[static_cast<size_t>(rank)] = {at(call_.in, rank * count_ + begin), piece};
      reduce_parts(at(call_.out, begin), parts);
    }
  }

  void all_to_all() {
    const std::vector<int64_t>&out_counts = call_.out_counts, &in_counts = call_.in_counts;
    int64_t bytes = 0;
    for (size_t rank = 0; rank < out_counts.size(); ++rank) bytes += bytes_of(std::max(out_counts[rank], in_counts[rank]));
    operate(bytes, [&](Requests& requests) {
      requests.assign(2 * out_counts.size(), MPI_REQUEST_NULL);
      MPI_Request* next = requests.data();
      int64_t to = 0, from = 0;
      int code = MPI_SUCCESS;
      for (int rank = 0; rank < size_ && code == MPI_SUCCESS; to += out_counts[static_cast<size_t>(rank++)]) {
        const ManyType many(out_counts[static_cast<size_t>(rank)], dtype_);
        code = MPI_Irecv(at(call_.out, to), many.count(), many.type(), rank, 0, comm_, next++);
      }
      for (int rank = 0; rank < size_ && code == MPI_SUCCESS; from += in_counts[static_cast<size_t>(rank++)]) {
        const ManyType many(in_counts[static_cast<size_t>(rank)], dtype_);
        code = MPI_Isend(at(call_.in, from), many.count(), many.type(), rank, 0, comm_, next++);
      }
      return code;
    });
  }

  void gather() {
    operate(bytes_of(count_ * size_), [&](Requests& requests) {
      const ManyType many(count_, dtype_);
      const bool in_place = rank_ == call_.root && call_.in == at(call_.out, rank_ * count_);
      return MPI_Igather(in_place ? MPI_IN_PLACE : call_.in, many.count(), many.type(), call_.out, many.count(), many.type(), call_.root,
                         comm_, requests.data());
    });
  }

  void scatter() {
    operate(bytes_of(count_ * size_), [&](Requests& requests) {
      const ManyType many(count_, dtype_);
      void* to = rank_ == call_.root && call_.out == at(call_.in, rank_ * count_) ? MPI_IN_PLACE : call_.out;
      return MPI_Iscatter(call_.in, many.count(), many.type(), to, many.count(), many.type(), call_.root, comm_, requests.data());
    });
  }

  void barrier() {
    operate(0, [&](Requests& requests) { return MPI_Ibarrier(comm_, requests.data()); });
  }

 private:
  void operate(int64_t bytes, const Post& post) { group_.operate(context_, bytes, post); }
  [[nodiscard]] int64_t bytes_of(int64_t elements) const { return elements * static_cast<int64_t>(size_of(dtype_)); }
  [[nodiscard]] char* at(void* data, int64_t elements) const { return static_cast<char*>(data) + bytes_of(elements); }
  [[nodiscard]] const char* at(const void* data, int64_t elements) const { return static_cast<const char*>(data) + bytes_of(elements); }

  // Everybody reduces everything.
  void all_reduce_in_one_round() {
    std::vector<char>& received = group_.received_;
    received.resize(std::max(received.size(), static_cast<size_t>(kSmallBytes)));
    operate(0, [&](Requests& requests) {
      const auto each = static_cast<int>(count_);
      return MPI_Iallgather(call_.in, each, type_of(dtype_), received.data(), each, type_of(dtype_), comm_, requests.data());
    });
    std::vector<const void*> inputs;
    for (int rank = 0; rank < size_; ++rank) inputs.push_back(at(received.data(), rank * count_));
    reduce_elements(call_.out, inputs.data(), size_, count_, dtype_, call_.op);
  }

  /// Sends parts[r] to rank r, and reduces what all ranks have for this one into `out`, in the order of the ranks.
  void reduce_parts(void* out, const Shares& parts) {
    const int64_t count = parts[static_cast<size_t>(rank_)].count;
    std::vector<char>& received = group_.received_;
    received.resize(std::max(received.size(), static_cast<size_t>(bytes_of(count * (size_ - 1)))));
    std::vector<const void*> inputs(parts.size());
    for (int rank = 0, slot = 0; rank < size_; ++rank)
      inputs[static_cast<size_t>(rank)] = rank == rank_ ? parts[static_cast<size_t>(rank)].data : at(received.data(), count * slot++);
    operate(bytes_of(count * size_), [&](Requests& requests) {
      requests.assign(2 * parts.size(), MPI_REQUEST_NULL);
      MPI_Request* next = requests.data();
      int code = MPI_SUCCESS;
      for (int i = 1; i < size_ && code == MPI_SUCCESS; ++i) {  // from the next rank on, so that not all turn to the same one first
        const int rank = (rank_ + i) % size_;
        const Share& part = parts[static_cast<size_t>(rank)];
        if (count > 0)
          code = MPI_Irecv(const_cast<void*>(inputs[static_cast<size_t>(rank)]), static_cast<int>(count), type_of(dtype_), rank, 0, comm_,
                           next++);
        if (part.count > 0 && code == MPI_SUCCESS)
          code = MPI_Isend(part.data, static_cast<int>(part.count), type_of(dtype_), rank, 0, comm_, next++);
      }
      return code;
    });
    if (count > 0) reduce_elements(out, inputs.data(), size_, count, dtype_, call_.op);
  }

  /// Reduces the call's elements, which are at `data`, a share on each rank, in pieces: `shared` is called with each piece's shares, and
  /// where this rank's reduced share is.
  void reduce_shares(const void* data, bool in_place, const std::function<void(const Shares&, const void*)>& shared) {
    const int64_t most = kPieceBytes / bytes_of(1);
    Shares shares(static_cast<size_t>(size_));
    for (int64_t begin = 0; begin < count_ || begin == 0; begin += most) {
      const int64_t piece = std::min(most, count_ - begin), share = (piece + size_ - 1) / size_;
      for (int rank = 0; rank < size_; ++rank) {
        const int64_t from = std::min(rank * share, piece);
        shares[static_cast<size_t>(rank)] = {at(data, begin + from), std::min(share, piece - from)};
      }
      const Share& own = shares[static_cast<size_t>(rank_)];
      void* out = const_cast<void*>(own.data);
      if (!in_place) {
        std::vector<char>& reduced = group_.reduced_;
        reduced.resize(std::max(reduced.size(), static_cast<size_t>(bytes_of(own.count))));
        out = reduced.data();
      }
      reduce_parts(out, shares);
      shared(shares, out);
    }
  }

  MpiBackend& group_;
  const Context& context_;
  const Call& call_;
  const DType dtype_;
  const int64_t count_;
  const int rank_, size_;
  const MPI_Comm comm_;
};

void MpiBackend::run(const Context& context) {
  if (point_to_point(context.call.kind)) return run_message(context);
  begin(context);
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
    case Collective::Send:
    case Collective::Recv: break;  // see run_message
  }
}

}  // namespace tandem::comm::mpi
