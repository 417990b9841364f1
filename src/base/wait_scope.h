// Whether the calling thread may wait for devices, and whom its work is for. ledger::Guard sets it; threads that work for their starter
// take it over.
#pragma once

#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/site.h"

namespace tandem::ledger {

/// A wait that a Guard forbids. It has not begun: nothing was waited for, and the tensors are as before.
class ForbiddenError : public Error {
 public:
  using Error::Error;
};

}  // namespace tandem::ledger

namespace tandem::detail {

struct WaitScope {
  enum Mode : uint8_t { Unset, Allow, Log, Forbid };  // Unset: as the environment says

  Mode mode = Unset;
  bool own = false;          // the library works for itself: that may wait
  const char* reason = "";   // why it waits, as the scope says; lives for ever
  Site site = Site::none();  // of the guard; of own work, the user's line that ordered it
};

inline thread_local constinit WaitScope wait_scope;

/// Until the end of the scope, the calling thread waits under `scope`. A thread that does somebody's work is given the wait_scope of the
/// thread that started it: a loader's workers, ranks, replicas. One that serves everybody is not: the thread pool, streams, collectives.
class WithWaitScope {
 public:
  explicit WithWaitScope(const WaitScope& scope) : before_(std::exchange(wait_scope, scope)) {}
  ~WithWaitScope() { wait_scope = before_; }
  WithWaitScope(const WithWaitScope&) = delete;
  WithWaitScope& operator=(const WithWaitScope&) = delete;

 private:
  const WaitScope before_;
};

/// Until the end of the scope, the calling thread does work that the library wants, not the user: `what`, a literal such as "the
/// DataLoader's copies", ordered by the user's line `site`. It may wait where users must not, and the ledger tells the two apart.
class OwnWork {
 public:
  OwnWork(const char* what, Site site) : scope_({wait_scope.mode, true, what, wait_scope.own ? wait_scope.site : site}) {}

 private:
  const WithWaitScope scope_;
};

}  // namespace tandem::detail
