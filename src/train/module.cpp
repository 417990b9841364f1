#include "train/module.h"

#include "base/error.h"
#include "ops/loss/loss.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"

namespace tandem::train {

Tensor Module::loss(const Tensor&, const Tensor&) {
  fail("[", name(), "] has no loss: override loss(output, target), or training_step(batch)");
}

std::unique_ptr<optim::Optimizer> Module::configure_optimizers() {
  fail("[", name(),
       "] has no optimizer: override configure_optimizers(), as in `return optim::make<optim::SGD>(parameters(), {.lr = 0.1});`");
}

std::vector<Scheduled> Module::configure_schedules(optim::Optimizer&, int64_t) { return {}; }

void Scheduled::step(const Figures& figures) {
  if (schedule_) return schedule_->step();
  const double* figure = find(figures, monitor_);
  if (!figure) fail("[Trainer.fit] ReduceLROnPlateau watches ", monitor_, ", which this run does not have");
  plateau_->step(*figure);
}

Tensor Module::training_step(const data::Batch& batch) { return loss(predict(batch.input()), batch.target()); }

Metrics Module::validation_step(const data::Batch& batch) { return {{"val_loss", loss(predict(batch.input()), batch.target())}}; }

Tensor Module::predict(const Tensor& input, Site site) { return predict_.target ? (*predict_.target)(input, site) : (*this)(input, site); }

Tensor accuracy(const Tensor& output, const Tensor& target, Site site) {
  // In float64, so that a mean over any number of batches counts exactly.
  return eq(output.argmax(-1, false, site), target, site).to(kFloat64, {}, site).mean(site);
}

Tensor Classifier::loss(const Tensor& output, const Tensor& target) { return cross_entropy(output, target, {}, Site::none()); }

Metrics Classifier::validation_step(const data::Batch& batch) {
  const Tensor output = predict(batch.input());
  return {{"val_loss", loss(output, batch.target())}, {"val_acc", accuracy(output, batch.target())}};
}

}  // namespace tandem::train
