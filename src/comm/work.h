// A collective that has been asked for: how to wait for it.
#pragma once

#include <memory>

#include "base/site.h"

namespace tandem::comm {

/// A handle to a collective. Copies name the same one. Letting go of it waits for nothing. As torch.distributed.Work.
class Work {
 public:
  /// One that is done.
  Work() = default;

  /// On a device: what the calling thread queues from now on comes behind the collective; the host does not wait. On the CPU: waits, and
  /// throws what went wrong.
  void wait(Site site = Site::here()) const;
  /// Waits on the host in every case; throws what went wrong.
  void synchronize(Site site = Site::here()) const;
  /// Whether it is done, well or badly. Waits for nothing.
  [[nodiscard]] bool is_completed() const;

  /// For the library: what stands behind a handle.
  class State {
   public:
    virtual ~State() = default;
    /// Makes the current streams, or the host, wait.
    virtual void wait(bool on_host, Site site) = 0;
    /// Whether it is done.
    [[nodiscard]] virtual bool is_completed() = 0;
  };
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;  // nullptr: done
};

}  // namespace tandem::comm
