// How ranks reach each other: one small class for each way, all of which run the same calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "comm/call.h"
#include "runtime/device.h"
#include "runtime/driver.h"

namespace tandem::comm {

using Clock = std::chrono::steady_clock;

/// Work before a collective failed on some rank, so no bytes were moved. The group goes on.
class SpoiledError : public Error {
 public:
  using Error::Error;
};

/// What comes with every call of a back end.
struct Context {
  const Call& call;                                       // what this rank does, its number and the user's line
  Device device;                                          // where the buffers are: the CPU, or a device by its kernels' addresses
  runtime::StreamHandle stream = nullptr;                 // of a device: the stream to queue on, or whose thread makes the call
  Clock::time_point deadline = Clock::time_point::max();  // when a wait for partners becomes an error
  const std::atomic<bool>* aborted = nullptr;             // true once the group is aborted: waits end with an error. nullptr: never
  const std::string* spoiled = nullptr;  // work before it on this stream failed, which this tells: partners are to be told; no bytes move
};

/// A message that is on its way without a thread that waits for it. Whoever destroys it before it is done leaves the group in pieces.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Moves what can be moved without waiting, by one thread at a time. Whether it is done; what goes wrong is thrown, as by run.
  /// `look`: see, too, whether the other rank is still there and time is left.
  [[nodiscard]] virtual bool advance(bool look) = 0;
};

/// One rank's end of a group. Buffers are dense; counts are of elements; ranks are those of the group. It neither checks its arguments nor
/// allocates tensors. The group above it makes one call at a time, except for send and recv, which may come from other threads at the same
/// time as anything else. What goes wrong is thrown as an Error, after which the
/// group is dead, but for a SpoiledError.
///
/// There are two sorts. Most run on a host thread and return when the rank's part is done: for the CPU the caller's thread or one of the
/// group's, for a device the thread that has reached the call in its stream (virtual GPUs), where all earlier work of the stream is done.
/// One that `queues_on_streams` queues the work on `context.stream` and returns.
class Backend {
 public:
  virtual ~Backend() = default;

  /// As get_backend gives it: "local", "mpi", "nccl".
  [[nodiscard]] virtual const char* name() const = 0;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Whether it queues device work by itself.
  [[nodiscard]] virtual bool queues_on_streams() const { return false; }
  /// Whether it takes buffers of such a device.
  [[nodiscard]] virtual bool takes(Device device) const = 0;
  /// Whether it compares the ranks' calls itself, in every call. Else the group does so where it is asked to.
  [[nodiscard]] virtual bool compares_calls() const { return false; }

  /// `bytes` of the host's memory, zeros, on which collectives are faster where all ranks give such memory: the others reach it without a
  /// copy between. It may outlive the group. nullptr where there is none, or no more. From any thread.
  [[nodiscard]] virtual std::shared_ptr<void> shared_memory(size_t /*bytes*/) { return nullptr; }

  /// Runs this rank's part of `context.call`, as collectives.def says for its kind.
  virtual void run(const Context& context) = 0;
  /// As run of a Send or Recv, for who moves many messages at once; from any thread. The context, and what it names, stays until the
  /// transfer is destroyed. Not of those that queue on streams.
  [[nodiscard]] virtual std::unique_ptr<Transfer> begin_message(const Context& context);
  /// A number that changes when one of this rank's transfers may go on; waiting until it is not `seen` any more, for a moment at most,
  /// which tells whether it changed; and changing it.
  [[nodiscard]] virtual uint32_t news() { return 0; }
  [[nodiscard]] virtual bool wait_for_news(uint32_t seen);
  virtual void ring() noexcept {}

  /// Between begin_many and end_many one thread makes the same call for several ranks. For those that queue on streams. Where an exception
  /// unwinds the stack, end_many gives up what was called.
  virtual void begin_many() {}
  virtual void end_many() {}

  /// A group of some ranks, in that order. Every rank of this one makes the same call, at a point where no collective is under way; nullptr
  /// for those that are not in it.
  [[nodiscard]] virtual std::unique_ptr<Backend> sub_group(const Context& context, std::span<const int> ranks) = 0;
  /// From any thread, at any time: every wait of this rank ends with an error that says `reason`, at once, and those of the other ranks
  /// where they can be reached. The group is dead from then on. The first reason counts.
  virtual void abort(const std::string& reason) noexcept = 0;
  /// This rank takes no part any more, and has no call under way; those who wait for it are told. Waits for nobody.
  virtual void leave() noexcept {}

  /// Where this rank's flight recorder may lie so that the others can read it, recorder_bytes() long and zero; nullptr: anywhere.
  [[nodiscard]] virtual void* recorder_memory() { return nullptr; }
  /// Another rank's recorder, also when that rank has died; nullptr where it cannot be seen.
  [[nodiscard]] virtual const void* recorder_memory_of(int /*rank*/) const { return nullptr; }
  /// Who a rank is to a person: "rank 1", with its process's number or its host where they are known.
  [[nodiscard]] virtual std::string describe(int rank) const { return tandem::str("rank ", rank); }
};

/// What a back end is started with.
struct Start {
  int rank = 0, size = 1;
  std::chrono::milliseconds timeout{};
  std::string init_method = {};  // where ranks meet: what the user gave, or empty
  Device device = {};            // the calling rank's device, for one that needs it; the CPU where there is none
  Backend* host = nullptr;       // another back end of the same ranks that takes host memory, to exchange a few bytes over; nullptr: none
};

/// A way to make a back end. Ones for devices (NCCL) are made beside one for the host.
struct BackendFactory {
  std::string name;
  /// Whether this process was started by it and it should be chosen where the user names none; nullptr: never.
  bool (*started_by_it)() = nullptr;
  /// This process's rank and number of ranks where it knows them; nullptr: from the environment (RANK, WORLD_SIZE).
  void (*ranks)(int& rank, int& size) = nullptr;
  std::unique_ptr<Backend> (*make)(const Start& start) = nullptr;
  bool for_devices = false;  // it takes devices' tensors only, so that a host's back end is made beside it
  /// The ranks of one process, one for each of the devices, which one thread calls, between begin_many and end_many; nullptr: it makes
  /// none.
  std::vector<std::unique_ptr<Backend>> (*make_many)(std::span<const Device> devices) = nullptr;
};

/// The back ends that there are, in the order in which they are tried. The first with a name counts.
[[nodiscard]] std::vector<BackendFactory> backends();
/// One more, before those that there are. For plug-ins and tests.
void register_backend(BackendFactory factory);

}  // namespace tandem::comm
