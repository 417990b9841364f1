#include "tools/recipes/learner.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "ops/loss/loss.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "optim/optim.h"

namespace tandem::tools {
namespace {

struct NamedOptimizer {
  const char* name;
  std::unique_ptr<optim::Optimizer> (*make)(std::vector<Tensor> parameters, double lr);
};

template <class O>
std::unique_ptr<optim::Optimizer> make(std::vector<Tensor> parameters, double lr) {
  return optim::make<O>(std::move(parameters), {.lr = lr});
}

constexpr NamedOptimizer kOptimizers[] = {
    {"sgd", make<optim::SGD>},
    {"momentum",
     [](std::vector<Tensor> parameters, double lr) { return optim::make<optim::SGD>(std::move(parameters), {.lr = lr, .momentum = 0.9}); }},
    {"adam", make<optim::Adam>},
    {"adamw", make<optim::AdamW>},
    {"nadam", make<optim::NAdam>},
    {"radam", make<optim::RAdam>},
    {"adamax", make<optim::Adamax>},
    {"adagrad", make<optim::Adagrad>},
    {"adadelta", make<optim::Adadelta>},
    {"rmsprop", make<optim::RMSprop>}};

struct NamedSchedule {
  const char* name;
  std::vector<train::Scheduled> (*make)(optim::Optimizer& optimizer, const LearnerOptions& options, int64_t total_steps);
};

using train::Scheduled;

const NamedSchedule kSchedules[] = {
    {"none", [](optim::Optimizer&, const LearnerOptions&, int64_t) { return std::vector<Scheduled>(); }},
    {"cosine",
     [](optim::Optimizer& optimizer, const LearnerOptions&, int64_t steps) {
       return std::vector<Scheduled>{
           {std::make_shared<optim::CosineAnnealingLR>(optimizer, std::max<int64_t>(steps, 1)), Scheduled::Each::Step}};
     }},
    {"onecycle",
     [](optim::Optimizer& optimizer, const LearnerOptions& options, int64_t steps) {
       return std::vector<Scheduled>{{std::make_shared<optim::OneCycleLR>(optimizer, options.lr, steps + 1), Scheduled::Each::Step}};
     }},
    {"step", [](optim::Optimizer& optimizer, const LearnerOptions&,
                int64_t) { return std::vector<Scheduled>{{std::make_shared<optim::StepLR>(optimizer, 1, 0.7)}}; }},
    {"plateau", [](optim::Optimizer& optimizer, const LearnerOptions&, int64_t) {
       return std::vector<Scheduled>{{std::make_shared<optim::ReduceLROnPlateau>(optimizer, optim::PlateauOptions{.patience = 2})}};
     }}};

template <class Named>
std::vector<std::string> names_of(const Named& all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.emplace_back(one.name);
  return names;
}

template <class Named>
const auto& one_called(const Named& all, const std::string& name) {
  const auto found = std::find_if(std::begin(all), std::end(all), [&](const auto& one) { return name == one.name; });
  if (found == std::end(all)) fail("there is no ", name);
  return *found;
}

}  // namespace

Tensor Learner::loss(const Tensor& output, const Tensor& target) {
  switch (options.loss) {
    case Loss::CrossEntropy: return cross_entropy(output, target);
    case Loss::BinaryCrossEntropy: return binary_cross_entropy_with_logits(output, target);
    case Loss::MeanSquaredError: return mse_loss(output, target);
  }
  fail("unknown loss");
}

train::Metrics Learner::validation_step(const data::Batch& batch) {
  const Tensor output = predict(batch.input());
  train::Metrics metrics = {{"val_loss", loss(output, batch.target())}};
  if (options.loss == Loss::CrossEntropy) metrics.emplace_back("val_acc", train::accuracy(output, batch.target()));
  return metrics;
}

std::unique_ptr<optim::Optimizer> Learner::configure_optimizers() {
  return one_called(kOptimizers, options.optimizer).make(parameters(), options.lr);
}

std::vector<train::Scheduled> Learner::configure_schedules(optim::Optimizer& optimizer, int64_t total_steps) {
  return one_called(kSchedules, options.schedule).make(optimizer, options, total_steps);
}

std::vector<std::string> optimizer_names() { return names_of(kOptimizers); }
std::vector<std::string> schedule_names() { return names_of(kSchedules); }

}  // namespace tandem::tools
