// What a run of `tandem train` leaves to look at: the page that shows it, and an event file for TensorBoard.
#pragma once

#include <optional>
#include <string>

#include "tools/recipes/learner.h"
#include "tools/recipes/recipe.h"
#include "train/report.h"
#include "train/trainer.h"

namespace tandem::tools {

struct Outcome {
  const Recipe& recipe;
  const TrainSettings& settings;
  const Task& task;
  const train::Trainer& trainer;
  const Learner& model;
  double seconds;
  std::optional<train::ReportConfusion> confusion;  // of the held-out samples, where it sorts them into classes
};

/// What the model makes of the samples that it is judged by; nothing where it does not sort into classes. Puts it into evaluation mode.
[[nodiscard]] std::optional<train::ReportConfusion> judge(Learner& model, const Task& task, const TrainSettings& settings);

/// Writes the page.
void write_page(const std::string& path, const Outcome& outcome);
/// Writes curves, weights, mistakes, the network, and the settings with what came out.
void write_events(const std::string& folder, const Outcome& outcome);

}  // namespace tandem::tools
