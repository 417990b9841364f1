// What a run of `tandem train` leaves to look at: the page that shows it, and an event file for TensorBoard and the board.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tools/recipes/learner.h"
#include "tools/recipes/recipe.h"
#include "train/callback.h"
#include "train/report.h"
#include "train/summary_writer.h"
#include "train/trainer.h"

namespace tandem::tools {

struct Outcome {
  const Recipe& recipe;
  const TrainSettings& settings;
  const std::function<bool(const char*)>& was_given;  // whether the command line has the option of that name
  const Task& task;
  const train::Trainer& trainer;
  const Learner& model;
  std::optional<train::ReportConfusion> confusion;  // of the held-out samples, where it sorts them into classes
};

/// What the model makes of the samples that it is judged by; nothing where it does not sort into classes. Puts it into evaluation mode.
[[nodiscard]] std::optional<train::ReportConfusion> judge(Learner& model, const Task& task, const TrainSettings& settings);

/// Writes the page.
void write_page(const std::string& path, const Outcome& outcome);

/// The event file of a run: curves while it goes on, what is new at the end of each epoch; then weights, mistakes, the network, and the
/// settings with what came out.
class Events final : public train::Callback {
 public:
  explicit Events(std::string folder) : writer_(std::move(folder)) {}
  void on_epoch_end(train::Trainer& trainer, train::Module&, const train::Figures&) override { write_curves(trainer); }
  void finish(const Outcome& outcome);

 private:
  void write_curves(const train::Trainer& trainer);

  train::SummaryWriter writer_;
  std::map<std::string, size_t> written_;  // points of each curve
};

}  // namespace tandem::tools
