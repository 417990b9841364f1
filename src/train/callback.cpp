#include "train/callback.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "train/trainer.h"

namespace tandem::train {
namespace {

/// Numbers as text that gives them back to the bit.
std::string exact(double number) { return tandem::detail::formatted("%a", number); }

double number_of(const std::string& text, const char* op) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) fail("[", op, "] a checkpoint's state is damaged: \"", text, "\" is no number");
  return number;
}

}  // namespace

bool detail::Best::update(const char* op, const Figures& figures) {
  const double* found = find(figures, monitor_.monitor);
  if (!found) {
    std::string names;
    for (const auto& [name, value] : figures) names += (names.empty() ? "" : ", ") + name;
    fail("[", op, "] there is no figure ", monitor_.monitor, " to watch; this run has ", names);
  }
  const double gain = monitor_.maximize ? *found - value_ : value_ - *found;
  const bool better = !std::isnan(*found) && (std::isnan(value_) || gain > monitor_.min_delta);
  if (better) value_ = *found;
  return better;
}

EarlyStopping::EarlyStopping(EarlyStoppingOptions options, Site /*site*/) : patience_(options.patience), best_(std::move(options)) {
  if (patience_ < 0) fail("[EarlyStopping] patience must not be negative, but is ", patience_);
  if (!(best_.monitor().min_delta >= 0)) fail("[EarlyStopping] min_delta must not be negative, but is ", best_.monitor().min_delta);
}

void EarlyStopping::on_epoch_end(Trainer& trainer, Module&, const Figures& figures) {
  waited_ = best_.update("EarlyStopping", figures) ? 0 : waited_ + 1;
  if (waited_ > 0 && waited_ >= patience_) trainer.stop();
}

std::string EarlyStopping::state() const { return exact(best_.value()) + " " + std::to_string(waited_); }

void EarlyStopping::load_state(const std::string& state) {
  const auto space = state.find(' ');
  const double best = number_of(state, "EarlyStopping");
  const double waited = number_of(space == std::string::npos ? "" : state.substr(space), "EarlyStopping");
  if (!(waited >= 0 && waited <= std::numeric_limits<int>::max()))
    fail("[EarlyStopping] a checkpoint's state is damaged: \"", state, "\" has waited for no number of epochs");
  best_.set_value(best);
  waited_ = static_cast<int>(waited);
}

ModelCheckpoint::ModelCheckpoint(ModelCheckpointOptions options, Site /*site*/)
    : path_(std::move(options.path)), best_(std::move(options)) {
  if (path_.empty()) fail("[ModelCheckpoint] path must not be empty");
}

void ModelCheckpoint::on_epoch_end(Trainer& trainer, Module&, const Figures& figures) {
  if (best_.update("ModelCheckpoint", figures)) trainer.save_checkpoint(path_);
}

std::string ModelCheckpoint::state() const { return exact(best_.value()); }
void ModelCheckpoint::load_state(const std::string& state) { best_.set_value(number_of(state, "ModelCheckpoint")); }

}  // namespace tandem::train
