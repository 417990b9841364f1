// What collectives that were queued on streams come to: a thread looks after them, since no host thread waits for them.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/queue.h"
#include "comm/cuda/communicator.h"

namespace tandem::comm::nccl {

/// A call whose work is under way: where its stream is told of a failure.
struct UnderWay {
  Status* status;
  const char* op;
  Site site;
};

/// The communicators of a rank, which live and die together, and its work.
class Rank {
 public:
  /// `host` is told of what goes wrong, so that it can tell other ranks; nullptr: nobody is.
  explicit Rank(Backend* host) : host_(host) {}

  void add(std::shared_ptr<Communicator> communicator);
  /// Ends all work and waits, and by `host` the other ranks'; the next synchronization of each stream that had work throws `reason`.
  void abort(const std::string& reason) noexcept;
  /// Error that says why where it has been aborted.
  void refuse_dead() const;
  /// From now on `host` is not used any more. Gives the communicators back.
  [[nodiscard]] std::vector<std::shared_ptr<Communicator>> leave() noexcept;

  using Place = std::list<UnderWay>::iterator;
  [[nodiscard]] Place begin(const UnderWay& work);
  void end(Place work) noexcept;

 private:
  mutable std::mutex mutex_;
  Backend* host_;
  std::vector<std::shared_ptr<Communicator>> communicators_;
  std::list<UnderWay> under_way_;
  std::string reason_;  // it is dead
};

/// Looks after the work that `queue` has got with the call of `context`: where it fails, or is not done by its deadline, the rank is
/// aborted and the stream's next synchronization throws why. Nothing where the stream is being captured.
void watch(std::shared_ptr<Rank> rank, std::shared_ptr<Communicator> communicator, const Context& context, const Queue& queue);

/// Lets communicators go whose work is done: without waiting, but so that the other ranks can end theirs.
void close(std::vector<std::shared_ptr<Communicator>> communicators) noexcept;

}  // namespace tandem::comm::nccl
