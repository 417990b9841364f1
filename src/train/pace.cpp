#include "train/pace.h"

#include <algorithm>

#include "base/wait_scope.h"
#include "train/progress_bar.h"

namespace tandem::train {

void Pace::batch_queued(Site site) {
  if (!device_.is_cuda()) {
    done_ = ++queued_;
    return;
  }
  const tandem::detail::OwnWork own("the pace of batches", site);
  std::optional<cuda::Event>& mark = event(queued_);
  if (!mark) mark.emplace();
  mark->record(cuda::current_stream(device_), site);
  ++queued_;
}

bool Pace::wait(Site site) {
  if (done_ == queued_) return false;
  const tandem::detail::OwnWork own("the pace of batches", site);
  event(done_)->synchronize(site);
  ++done_;
  const double now = seconds_now();
  if (last_done_ >= 0) ahead_ = std::clamp(static_cast<int64_t>(kSecondsAhead / std::max(now - last_done_, 1e-6)), int64_t{1}, kAhead);
  last_done_ = now;
  return true;
}

}  // namespace tandem::train
