#include "comm/work.h"

namespace tandem::comm {

void Work::wait(Site site) const {
  if (state_) state_->wait(false, site);
}

void Work::synchronize(Site site) const {
  if (state_) state_->wait(true, site);
}

bool Work::is_completed() const { return !state_ || state_->is_completed(); }

}  // namespace tandem::comm
