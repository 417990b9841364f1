// The back end of real GPUs: NCCL's collectives, on the streams of the devices.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/backend.h"
#include "comm/cuda/communicator.h"
#include "comm/cuda/meeting.h"
#include "comm/cuda/watcher.h"

namespace tandem::comm::nccl {

/// One rank, on one device. Elements are reduced in NCCL's order, half types in theirs; int16, which NCCL lacks, in int32. Where a call
/// fails on the device or passes its time limit, the whole rank is aborted, and the stream's next synchronization throws why.
class NcclBackend final : public Backend {
 public:
  /// `meeting` knows the same ranks by a back end that outlives this; `told` (nullptr: nobody) is aborted with it.
  NcclBackend(int rank, int size, Device device, std::shared_ptr<Communicator> communicator, Meeting meeting, Backend* told);
  ~NcclBackend() override;

  [[nodiscard]] const char* name() const override { return "nccl"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] bool queues_on_streams() const override { return true; }
  [[nodiscard]] bool takes(Device device) const override { return device == device_; }

  /// A barrier waits on the host, too. Messages have tag 0 alone; the first between two ranks waits, on the host, until both have called.
  void run(const Context& context) override;
  void begin_many() override { Held::begin(); }
  void end_many() override { Held::end(); }

  [[nodiscard]] std::unique_ptr<Backend> sub_group(const Context& context, std::span<const int> ranks) override;
  void abort(const std::string& reason) noexcept override;
  void leave() noexcept override;

 private:
  class Algorithms;
  /// Messages to another rank and from it: communicators apart from the ranks' own, so that they wait for no collective.
  struct Pair {
    std::mutex meeting;  // held while the two ranks meet
    std::shared_ptr<Communicator> to, from;
  };

  /// Queues NCCL's work on the context's stream, `f(communicator, stream)`, and has it looked after.
  using Work = std::function<ncclResult_t(ncclComm_t, cudaStream_t)>;
  void queue(const Context& context, const std::shared_ptr<Communicator>& communicator, const char* function, const Work& work);
  /// The communicators for a message's pair, which are made the first time.
  Pair& pair_of(const Context& context);

  const int rank_, size_;
  const Device device_;
  const std::shared_ptr<Communicator> communicator_;
  const std::shared_ptr<Rank> members_;
  const Meeting meeting_;
  std::mutex mutex_;  // guards what follows
  std::map<int, std::unique_ptr<Pair>> pairs_;
};

/// "nccl": ranks meet over `start.host`. Error on every rank where one of them cannot use NCCL, or two share a GPU.
[[nodiscard]] std::unique_ptr<Backend> make_backend(const Start& start);
/// The ranks of one process, one for each of the devices, for the thread that calls them all.
[[nodiscard]] std::vector<std::unique_ptr<Backend>> make_backends(std::span<const Device> devices);

}  // namespace tandem::comm::nccl
