// A rank's membership in a group: numbers its collectives, runs them where their tensors are, keeps the recorder, ends every wait.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/backend.h"
#include "comm/recorder.h"
#include "comm/work.h"
#include "tensor/tensor.h"

namespace tandem::comm {

/// How long a wait for other ranks takes at most, unless set.
inline constexpr std::chrono::milliseconds kTimeout = std::chrono::minutes(30);

/// The call with its buffers: the first tensor that it reads, and the first that it writes.
[[nodiscard]] Call with_buffers(Call call, std::span<const Tensor> reads, std::span<const Tensor> writes);

/// One rank's end of a group of ranks. Thread-safe. All ranks call the same collectives in the same order.
class Group : public std::enable_shared_from_this<Group> {
 public:
  /// `host` takes CPU tensors, and those of devices that `device` (or nullptr) does not take. `ranks` are the members' ranks in the whole
  /// program.
  Group(std::unique_ptr<Backend> host, std::unique_ptr<Backend> device, std::vector<int> ranks, std::chrono::milliseconds timeout);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// The members' ranks in the whole program, in the group's order.
  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }
  [[nodiscard]] const char* backend_name() const;
  /// Whether collectives of such a device's tensors can be run; others go through the CPU.
  [[nodiscard]] bool takes(Device device) const;
  [[nodiscard]] std::chrono::milliseconds timeout() const { return timeout_; }
  /// A number from 1 for what every rank makes of the group in the same order.
  [[nodiscard]] uint64_t next_number();
  /// As Backend::shared_memory.
  [[nodiscard]] std::shared_ptr<void> shared_memory(size_t bytes) const;

  /// Runs one collective, `call` without its number and buffers, once earlier collectives of the group on this rank are done, on the thread
  /// or the stream where the tensors are. The first that it reads is the call's `in`, the first that it writes its `out`. Tensors are dense
  /// and on one device; none: the CPU's. They are held until it is done. `limit` takes the place of the group's timeout where it is given.
  Work run(Call call, std::span<const Tensor> reads, std::span<const Tensor> writes, bool async_op, std::chrono::milliseconds limit = {});
  /// The group of some members; nullptr where this rank is not one. Every rank of this group calls it.
  [[nodiscard]] std::shared_ptr<Group> sub_group(std::span<const int> ranks, std::chrono::milliseconds timeout, Site site);
  /// From any thread: every wait in this group ends with an error that says `reason`. The group is dead from then on.
  void abort(const std::string& reason) noexcept;
  /// This rank leaves: waits for its own collectives that are under way, tells the others. Later calls are errors. Throws the first error
  /// of asynchronous work that nobody has waited for.
  void leave(Site site);
  /// What the recorders that can be seen hold, a line a call, ranks in order.
  [[nodiscard]] std::string recorded_text() const;
  /// The same as JSON: {"ranks": [as recorded_json gives it, …]}.
  [[nodiscard]] std::string recorded_json() const;

  /// A member's recorder; nullptr where it cannot be seen from here.
  [[nodiscard]] const void* recorder_of(int rank) const;
  /// Who a member is to a person: "rank 1 (pid 1234)".
  [[nodiscard]] std::string describe(int rank) const;

 private:
  struct State;
  [[nodiscard]] State& state_for(Call& call) const;
  // Runs a call that returns when it is done: `part(back end, context)` is its part.
  template <class Part>
  void run_here(Call call, std::span<const Tensor> writes, std::chrono::milliseconds limit, Part part);
  Work queue(Call call, std::span<const Tensor> reads, std::span<const Tensor> writes, bool async_op, std::chrono::milliseconds limit);
  std::vector<int> ranks_;
  std::chrono::milliseconds timeout_;
  std::shared_ptr<State> state_;
};

}  // namespace tandem::comm
