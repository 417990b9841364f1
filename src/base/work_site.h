// Whose line it is that the library works for.
#pragma once

#include <utility>

#include "base/site.h"

namespace tandem::detail {

/// The user's line whose gradient, or composed operation, the calling thread works at; nullptr elsewhere, also in the user's own code that
/// backward calls.
inline thread_local constinit const Site* work_site = nullptr;

/// The line that a piece of work belongs to: the lines of the library's own calls say nothing to a user.
inline Site site_of_work(Site given) { return work_site ? *work_site : given; }

/// Until the end of the scope, work belongs to the line `site`; nullptr: to the line that asks for it.
class WorkSite {
 public:
  explicit WorkSite(const Site* site) : before_(std::exchange(work_site, site)) {}
  ~WorkSite() { work_site = before_; }
  WorkSite(const WorkSite&) = delete;
  WorkSite& operator=(const WorkSite&) = delete;

 private:
  const Site* before_;
};

/// All that a composed operation is made of, until the end of the scope, belongs to its caller's line.
class ComposedAt {
 public:
  explicit ComposedAt(Site site) : site_(site_of_work(site)), scope_(&site_) {}

 private:
  Site site_;
  WorkSite scope_;
};

}  // namespace tandem::detail
