#include "train/losses.h"

#include <algorithm>
#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/wait_scope.h"
#include "ops/creation.h"
#include "train/progress_bar.h"

namespace tandem::train {
namespace {
constexpr const char* kReading = "the Trainer's reading of losses";
}

void Losses::take(int64_t index, double loss, int epoch) {
  if (!std::isfinite(loss))
    fail("[Trainer.fit] the loss of batch ", index, " of epoch ", epoch + 1, " is ", std::isnan(loss) ? "nan" : "infinite",
         ": a smaller learning rate or gradient_clip_val may help; nothing was saved since the last checkpoint");
  LossMean& half = halves_[index * 2 < batches_ ? 0 : 1];
  half.sum += loss;
  ++half.batches;
}

bool Losses::wait(int epoch, Site site) {
  if (done_ == added_) return false;
  const tandem::detail::OwnWork own(kReading, site);
  Arrival& first = arrival(done_);
  first.event->synchronize(site);
  ++done_;
  const double now = seconds_now();
  if (last_arrival_ >= 0)
    ahead_ = std::clamp(static_cast<int64_t>(kSecondsAhead / std::max(now - last_arrival_, 1e-6)), int64_t{1}, kAhead);
  last_arrival_ = now;
  take(first.index, first.value.item<double>(), epoch);
  return true;
}

void Losses::add(int64_t index, const Tensor& loss, int epoch, Site site) {
  const NoGradGuard no_grad;
  if (!device_.is_cuda()) {
    done_ = ++added_;
    return take(index, loss.item<double>(), epoch);
  }
  while (added_ - done_ >= ahead_) wait(epoch, site);
  const tandem::detail::OwnWork own(kReading, site);
  Arrival& last = arrival(added_);
  if (!last.value.defined() || last.value.dtype() != loss.dtype())
    last.value = empty({}, {.dtype = loss.dtype(), .pin_memory = true}, site);
  last.value.copy_(loss.detach().reshape({}, site), true, site);
  if (!last.event) last.event.emplace();
  last.event->record(cuda::current_stream(device_), site);
  last.index = index;
  ++added_;
}

void Losses::finish(int epoch, Site site) {
  while (wait(epoch, site)) {
  }
}

double Losses::mean() const {
  const int64_t batches = halves_[0].batches + halves_[1].batches;
  return batches ? (halves_[0].sum + halves_[1].sum) / static_cast<double>(batches) : 0;
}

}  // namespace tandem::train
