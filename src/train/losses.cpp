#include "train/losses.h"

#include <algorithm>
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

void Losses::arrive(Arrival& arrival, int epoch, Site site) {
  if (arrival.index < 0) return;
  const tandem::detail::OwnWork own(kReading, site);
  arrival.event->synchronize(site);
  const int64_t index = arrival.index;
  arrival.index = -1;
  take(index, arrival.value.item<double>(), epoch);
}

void Losses::add(int64_t index, const Tensor& loss, int epoch, Site site) {
  const NoGradGuard no_grad;
  if (!device_.is_cuda()) return take(index, loss.item<double>(), epoch);
  const tandem::detail::OwnWork own(kReading, site);
  Arrival& arrival = arrivals_[static_cast<size_t>(index % kAhead)];
  arrive(arrival, epoch, site);
  if (!arrival.value.defined() || arrival.value.dtype() != loss.dtype())
    arrival.value = empty({}, {.dtype = loss.dtype(), .pin_memory = true}, site);
  arrival.value.copy_(loss.detach().reshape({}, site), true, site);
  if (!arrival.event) arrival.event.emplace();
  arrival.event->record(cuda::current_stream(device_), site);
  arrival.index = index;
}

void Losses::finish(int epoch, Site site) {
  // In the order of the batches, so that the sums are the same however far ahead the host was.
  std::array<Arrival*, kAhead> order;
  std::transform(arrivals_.begin(), arrivals_.end(), order.begin(), [](Arrival& arrival) { return &arrival; });
  std::sort(order.begin(), order.end(), [](const Arrival* a, const Arrival* b) { return a->index < b->index; });
  for (Arrival* arrival : order) arrive(*arrival, epoch, site);
}

double Losses::mean() const {
  const int64_t batches = halves_[0].batches + halves_[1].batches;
  return batches ? (halves_[0].sum + halves_[1].sum) / static_cast<double>(batches) : 0;
}

}  // namespace tandem::train
