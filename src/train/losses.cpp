#include "train/losses.h"

#include <cmath>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/wait_scope.h"
#include "ops/creation.h"

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
  const Arrival& first = arrival(pace_.done());
  if (!pace_.wait(site)) return false;
  const tandem::detail::OwnWork own(kReading, site);
  take(first.index, first.value.item<double>(), epoch);
  return true;
}

void Losses::add(int64_t index, const Tensor& loss, int epoch, Site site) {
  const NoGradGuard no_grad;
  if (!device_.is_cuda()) {
    pace_.batch_queued(site);
    return take(index, loss.item<double>(), epoch);
  }
  while (pace_.full()) wait(epoch, site);
  const tandem::detail::OwnWork own(kReading, site);
  Arrival& last = arrival(pace_.queued());
  if (!last.value.defined() || last.value.dtype() != loss.dtype())
    last.value = empty({}, {.dtype = loss.dtype(), .pin_memory = true}, site);
  last.value.copy_(loss.detach().reshape({}, site), true, site);
  last.index = index;
  pace_.batch_queued(site);
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
