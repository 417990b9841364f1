// Any network as something a Trainer trains: with a loss, an optimizer and a schedule that are chosen by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/recipes/recipe.h"
#include "train/module.h"

namespace tandem::tools {

struct LearnerOptions {
  Loss loss = Loss::CrossEntropy;
  std::string optimizer = "adam", schedule = "none";
  double lr = 1e-3;
};

struct Learner : train::Module {
  nn::AnyModule net;
  LearnerOptions options;

  Learner(nn::AnyModule net, LearnerOptions options) : net(std::move(net)), options(std::move(options)) {}
  void fields(nn::Fields& f) override { f("net", *net); }
  Tensor forward(const Tensor& x) override { return (*net)(x); }
  Tensor loss(const Tensor& output, const Tensor& target) override;
  train::Metrics validation_step(const data::Batch& batch) override;
  std::unique_ptr<optim::Optimizer> configure_optimizers() override;
  std::vector<train::Scheduled> configure_schedules(optim::Optimizer& optimizer, int64_t total_steps) override;
};

[[nodiscard]] std::vector<std::string> optimizer_names();
[[nodiscard]] std::vector<std::string> schedule_names();

}  // namespace tandem::tools
