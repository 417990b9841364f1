// The loop. The host runs ahead of the GPUs by a few batches and no more, so that what it reports is near to what has been done, and that
// batches on their way to the GPUs do not pile up.
#include "train/fit.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <typeinfo>
#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/wait_scope.h"
#include "nn/utils.h"
#include "ops/pointwise.h"
#include "runtime/observer.h"
#include "train/checkpoint.h"
#include "train/precision.h"
#include "train/unnamed_parts.h"

namespace tandem::train::detail {
namespace {

int64_t at_most(int64_t batches, int64_t limit) { return limit < 0 ? batches : std::min(batches, limit); }

std::string type_of(const Callback& callback) { return typeid(callback).name(); }

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail("[Trainer.fit] cannot make the folder ", path, " for checkpoints: ", error.message());
}

/// A part of the training, for profiles: what is done within stands below it.
class Part {
 public:
  explicit Part(const char* name) : told_([name] { return runtime::facts::Scope{.name = name}; }) {}

 private:
  runtime::Telling<runtime::facts::Scope> told_;
};

}  // namespace

Fit::Fit(Trainer& trainer, Progress& progress, const Ranks& ranks, Module& model, nn::Copier copier, const DataModule& data, Site site)
    : trainer_(trainer),
      progress_(progress),
      options_(trainer.options()),
      ranks_(ranks),
      model_(model),
      copier_(copier),
      device_(progress.devices[0]),
      site_(site),
      checkpoint_path_(trainer.checkpoint_path()),
      callbacks_(ranks.is_first() ? options_.callbacks : std::vector<std::shared_ptr<Callback>>()),
      loader_(data.train_dataloader()),
      val_loader_(data.val_dataloader()),
      batches_(at_most(loader_.size(), options_.limit_train_batches)),
      scaler_({.enabled = options_.precision.mixed() == kFloat16}, site),
      interrupt_(answer_to_interrupt()) {
  // Data, model, optimizer, in that order: a lazy model learns its sizes from the data, and an optimizer needs parameters that are there.
  if (batches_ == 0) fail("[Trainer.fit] there is nothing to train on: the loader has no batches");
  if (options_.early_stopping) callbacks_.push_back(std::make_shared<EarlyStopping>(*options_.early_stopping));
  if (!options_.checkpoint_dir.empty() && ranks_.is_first()) make_folder(options_.checkpoint_dir);
  loader_.set_device(device_);
  ranks_.divide(loader_);
  if (val_loader_) ranks_.divide(*val_loader_);
  {
    const tandem::detail::OwnWork own("the Trainer's move of the model", site);
    model.to(device_, site);
    if (model.has_uninitialized_params()) {
      const int64_t first = 0;
      const Tensor sample = loader_.dataset().get_batch({&first, 1}, {}, site).input().to(device_, {}, site);
      const UnnamedParts parts(model);
      try {
        nn::initialize(model, sample, site);
      } catch (const Error& error) {
        parts.explain(error, progress.devices);
        throw;
      }
    }
  }
  parameters_ = model.parameters();
  optimizer_ = model.configure_optimizers();
  if (!optimizer_)
    fail("[Trainer.fit] ", model.name(),
         ".configure_optimizers gave no optimizer: return one, as in `return optim::make<optim::SGD>(parameters(), {.lr = 0.1});`");
  const int64_t steps_an_epoch = (batches_ + options_.accumulate - 1) / options_.accumulate;
  schedules_ = model.configure_schedules(*optimizer_, steps_an_epoch * options_.max_epochs);
  if (options_.resume && std::filesystem::exists(checkpoint_path_)) load();
  if (progress.devices.size() > 1) parallel_.emplace(model, copier, progress.devices);
  if (ranks_.several()) replica_.emplace(model, parallel::DistributedDataParallelOptions(), site);
  if (!options_.quiet && ranks_.is_first()) {
    std::ostream& out = options_.output ? *options_.output : std::cerr;
    const Terminal terminal = options_.output ? Terminal() : terminal_of(2);
    bar_.emplace(out, terminal);
    if (options_.plot && terminal.interactive) picture_.emplace(out, terminal);
  }
}

void Fit::load() {
  // All that can be wrong with the file is found before anything that outlives this run has changed.
  const ReadCheckpoint checkpoint = read_checkpoint(checkpoint_path_, site_);
  RunState state = from_notes(checkpoint.more.notes, checkpoint_path_);
  if (state.batch > 0 && state.batches != batches_)
    fail("[Trainer.fit] ", checkpoint_path_, ": that run stopped after batch ", state.batch, " of ", state.batches,
         " an epoch, but here an epoch has ", batches_, ": go on with the same data and batch_size");
  for (size_t i = 0; i < schedules_.size(); ++i) schedules_[i].load_state_dict(checkpoint.more.schedules.under(str(i, ".")));
  if (!checkpoint.more.scaler.empty()) scaler_.load_state_dict(checkpoint.more.scaler, site_);
  std::vector<std::pair<Callback*, std::string>> before;  // and what they remembered
  try {
    for (const auto& callback : callbacks_) {
      // Those of a type keep their order; one that the earlier run did not have begins anew.
      const auto found =
          std::find_if(state.callbacks.begin(), state.callbacks.end(), [&](const auto& one) { return one.first == type_of(*callback); });
      if (found == state.callbacks.end()) continue;
      before.emplace_back(callback.get(), callback->state());
      callback->load_state(found->second);
      state.callbacks.erase(found);
    }
    take_over(checkpoint, model_, optimizer_.get(), site_);
  } catch (...) {
    for (const auto& [callback, own] : before) callback->load_state(own);
    throw;
  }
  set_generators(state.generators, progress_.devices);
  progress_.epoch = state.epoch;
  progress_.step = state.step;
  progress_.board = std::move(state.board);
  progress_.figures = std::move(state.figures);
  progress_.seconds_before = state.seconds;
  batch_ = state.batch;
  losses_.emplace(device_, batches_).set_halves(state.losses);
}

void Fit::run() {
  const Predict predict = [this](const Tensor& input, Site from) { return forward(input, from); };
  const PredictGuard guard(model_, predict);
  try {
    tell([&](Callback& callback) { callback.on_fit_start(trainer_, model_); });
    while (progress_.epoch < options_.max_epochs && !should_stop()) {
      const Part epoch("epoch");
      if (bar_) bar_->begin_epoch(progress_.epoch + 1, options_.max_epochs, batches_, batch_);
      tell([&](Callback& callback) { callback.on_train_epoch_start(trainer_, model_); });
      if (!train_epoch()) break;
      const auto figures = judge();
      if (!figures) break;
      end_epoch(*figures);
    }
    progress_.interrupted = ranks_.any(interrupt_.requested(), site_);
    if (batch_ > 0 && !checkpoint_path_.empty()) save_run();
    tell([&](Callback& callback) { callback.on_fit_end(trainer_, model_); });
    if (progress_.interrupted) say_interrupted();
  } catch (const std::exception& error) {
    tell([&](Callback& callback) { callback.on_exception(trainer_, model_, error); });
    throw;
  }
}

bool Fit::train_epoch() {
  model_.train();
  if (!losses_) losses_.emplace(device_, batches_);
  weights_ = ranks_.weights(loader_, static_cast<uint64_t>(progress_.epoch));
  if (batch_ < batches_) {
    loader_.set_epoch(static_cast<uint64_t>(progress_.epoch), batch_);
    for (const data::Batch& batch : loader_) {
      train_batch(batch);
      tell([&](Callback& callback) { callback.on_train_batch_end(trainer_, model_, batch_ - 1); });
      if (batch_ == batches_) break;
      if (batch_ % options_.accumulate != 0) continue;  // in the middle of a step there is nothing to go on from
      if (should_stop()) break;
      if (options_.checkpoint_every > 0 && progress_.step % options_.checkpoint_every == 0 && !checkpoint_path_.empty()) {
        losses_->finish(progress_.epoch, site_);
        save_run();
      }
    }
  }
  while (losses_->wait(progress_.epoch, site_)) show();
  show();
  if (bar_) bar_->end_training();  // the losses are read, so the GPUs have done all of it
  return batch_ == batches_;
}

void Fit::train_batch(const data::Batch& batch) {
  const int64_t in_group = batch_ % options_.accumulate;
  const bool steps = in_group == options_.accumulate - 1 || batch_ == batches_ - 1;
  if (replica_) replica_->set_averages(steps);
  Tensor loss;
  {
    const Part forward("forward");
    const AutocastGuard mixed = mixed_precision(options_.precision, device_, site_);
    loss = looked_at_parts_ ? model_.training_step(batch) : first_training_step(batch);
  }
  const double weight = weights_.empty() ? 1 : weights_[static_cast<size_t>(batch_)];
  if (weight != 1) loss = mul(loss, weight, site_);
  if (in_group == 0) optimizer_->zero_grad(true, site_);
  {
    const Part backward("backward");
    scaler_.scale(options_.accumulate > 1 ? mul(loss, 1.0 / options_.accumulate, site_) : loss, site_).backward({}, {}, site_);
  }
  if (steps) step();
  losses_->add(batch_, loss, progress_.epoch, site_);
  ++batch_;
  progress_.memory.record(progress_.epoch + static_cast<double>(batch_) / static_cast<double>(batches_));
  if (!bar_) return;
  samples_.push_back(ranks_.samples_of_all(batch.size(), weight));
  show();
}

void Fit::show() {
  if (!bar_) return;
  for (; losses_->added() - losses_->done() < static_cast<int64_t>(samples_.size()); samples_.pop_front()) bar_->advance(samples_.front());
  if (!bar_->due()) return;
  Figures now = {{"loss", losses_->running()}};
  now.insert(now.end(), last_figures_.begin(), last_figures_.end());
  bar_->draw(now);
}

Tensor Fit::first_training_step(const data::Batch& batch) {
  looked_at_parts_ = true;
  const UnnamedParts parts(model_);
  try {
    Tensor loss = model_.training_step(batch);
    if (bar_)
      for (const std::string& sentence : parts.behind(loss)) bar_->say("warning: " + sentence);
    return loss;
  } catch (const Error& error) {
    parts.explain(error, progress_.devices);
    throw;
  }
}

void Fit::step() {
  const Part part("optimizer step");
  if (options_.gradient_clip_val > 0) {
    scaler_.unscale_(*optimizer_, site_);
    nn::utils::clip_grad_norm_(parameters_, options_.gradient_clip_val, 2, site_);
  }
  scaler_.step(*optimizer_, site_);
  scaler_.update({}, site_);
  ++progress_.step;
  step_schedules(true, {});
}

Tensor Fit::forward(const Tensor& input, Site from) {
  if (replica_ && is_grad_enabled()) {
    replica_->before_forward(from);
    Tensor output = computed(input, from);
    replica_->after_forward({&output, 1});
    return output;
  }
  return computed(input, from);
}

Tensor Fit::computed(const Tensor& input, Site from) {
  const std::optional<DType> whole = options_.precision.whole();
  if (!whole) {
    const Tensor output = parallel_ ? (*parallel_)(input, from) : model_(input, from);
    return options_.precision.mixed() && is_half(output.dtype()) ? output.to(kFloat32, {}, from) : output;
  }
  const nn::AnyModule lowered = in_precision(model_, copier_, *whole, from);
  const Tensor x = input.is_floating_point() ? input.to(*whole, {}, from) : input;
  const Tensor output =
      progress_.devices.size() > 1 ? parallel::DataParallel(lowered.get(), copier_, progress_.devices)(x, from) : lowered.get()(x, from);
  return parameters_.empty() ? output : output.to(parameters_[0].dtype(), {}, from);
}

std::optional<Figures> Fit::judge() {
  if (!val_loader_) return Figures();
  const Part validation("validation");
  const auto generators = generators_now(progress_.devices);
  const AutocastGuard mixed = mixed_precision(options_.precision, device_, site_);
  const int64_t batches = at_most(val_loader_->size(), options_.limit_val_batches);
  const auto go_on = [this, batches, done = int64_t{0}]() mutable {
    ++done;
    if (bar_ && bar_->due()) bar_->draw_validation(done, batches);
    return ranks_.several() || !interrupt_.requested();
  };
  Figures figures = evaluate(model_, *val_loader_, device_, options_.limit_val_batches, go_on, options_.metrics, ranks_, site_);
  if (!ranks_.any(interrupt_.requested(), site_)) return figures;
  set_generators(generators, progress_.devices);
  return {};
}

void Fit::end_epoch(const Figures& validated) {
  losses_->set_halves(all_halves());
  draw_losses();
  Figures figures = {{"train_loss", losses_->mean()}};
  for (const auto& [name, value] : validated) {
    progress_.board.draw(name, progress_.epoch + 1, value);
    figures.emplace_back(name, value);
  }
  for (const auto& [name, value] : figures) progress_.figures.draw(name, progress_.epoch + 1, value);
  if (!schedules_.empty()) progress_.board.draw("lr", progress_.epoch + 1, optimizer_->param_groups()[0].lr);
  step_schedules(false, figures);
  ++progress_.epoch;
  batch_ = 0;
  losses_.reset();
  tell([&](Callback& callback) { callback.on_epoch_end(trainer_, model_, figures); });
  if (!checkpoint_path_.empty()) save_run();
  if (picture_) picture_->erase();
  if (bar_) bar_->end_epoch(figures);
  if (picture_) picture_->draw(progress_.board);
  last_figures_ = validated;
}

void Fit::draw_losses() {
  // The points stand in the middle of the batches that they are the mean of.
  const auto batches = static_cast<double>(batches_);
  double first = 0;
  for (const LossMean& half : losses_->halves()) {
    if (half.batches == 0) continue;
    const auto count = static_cast<double>(half.batches);
    progress_.board.draw("train_loss", progress_.epoch + (first + (count - 1) / 2) / batches, half.value());
    first += count;
  }
}

void Fit::step_schedules(bool each_step, const Figures& figures) {
  for (Scheduled& schedule : schedules_)
    if (schedule.each_step() == each_step) schedule.step(figures);
}

bool Fit::should_stop() const {
  return ranks_.any(progress_.stop || interrupt_.requested() || (options_.max_steps >= 0 && progress_.step >= options_.max_steps), site_);
}

std::string Fit::answer_to_interrupt() const {
  if (options_.quiet || options_.output || !ranks_.is_first()) return "";
  return str("\ninterrupted: ends after the batch under way, ",
             checkpoint_path_.empty() ? "and saves nothing, since there is no checkpoint_dir" : str("then saves ", checkpoint_path_),
             "; once more ends at once\n");
}

void Fit::say_interrupted() {
  if (!bar_) return;
  const std::string where =
      batch_ == 0 ? str("after epoch ", progress_.epoch) : str("in epoch ", progress_.epoch + 1, " after batch ", batch_, " of ", batches_);
  bar_->say(checkpoint_path_.empty() ? str("interrupted ", where, "; nothing was saved, since there is no checkpoint_dir")
                                     : str("interrupted ", where, ": saved ", checkpoint_path_, "; the option resume goes on from there"));
}

void Fit::save_run() {
  if (losses_) losses_->set_halves(all_halves());
  if (ranks_.is_first()) save(checkpoint_path_);
  ranks_.wait_for_all(site_);
}

void Fit::save(const std::string& path) const {
  Checkpoint checkpoint;
  for (size_t i = 0; i < schedules_.size(); ++i) checkpoint.schedules.add(str(i, "."), schedules_[i].state_dict());
  RunState state{.epoch = progress_.epoch,
                 .batch = batch_,
                 .batches = batches_,
                 .step = progress_.step,
                 .generators = generators_now(progress_.devices),
                 .board = progress_.board,
                 .figures = progress_.figures,
                 .seconds = trainer_.seconds()};
  checkpoint.scaler = scaler_.state_dict();
  if (losses_) state.losses = losses_->halves();
  for (const auto& callback : callbacks_) state.callbacks.emplace_back(type_of(*callback), callback->state());
  checkpoint.notes = to_notes(state);
  checkpoint.notes.insert(options_.notes.begin(), options_.notes.end());
  save_checkpoint(path, model_, optimizer_.get(), checkpoint, site_);
}

std::array<LossMean, 2> Fit::all_halves() const {
  std::array<LossMean, 2> halves = losses_->halves();
  // A batch's loss is already its part of the average, times the number of ranks.
  std::vector<double> sums;
  for (const LossMean& half : halves) sums.insert(sums.end(), {half.sum, static_cast<double>(half.batches)});
  ranks_.add_up(sums, site_);
  for (size_t i = 0; i < halves.size(); ++i)
    if (sums[2 * i + 1] > 0) halves[i].sum = sums[2 * i] * static_cast<double>(halves[i].batches) / sums[2 * i + 1];
  return halves;
}

}  // namespace tandem::train::detail
