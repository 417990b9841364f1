#include "base/error.h"
#include "data/digits.h"
#include "nn/nn.h"
#include "ops/creation.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/random.h"
#include "tools/train/recipe.h"

namespace tandem::tools {
namespace {

const std::vector<std::string> kTenDigits = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

Task digits(const TrainSettings& settings) {
  const data::Digits all;
  (void)settings;
  return {.net = nn::Sequential(nn::Flatten(), nn::Linear(64, 128), nn::ReLU(), nn::Linear(128, 10)),
          .train = all.train(),
          .held_out = all.held_out(),
          .classes = kTenDigits};
}

/// y = Xw + b with w = [2, -3.4] and b = 4.2, and a little noise: what the book's chapter learns.
Task linear(const TrainSettings& settings) {
  const int64_t samples = settings.samples.value_or(2000), half = samples / 2;
  const Tensor x = randn({samples, 2});
  const Tensor y = matmul(x, tensor({{2.f}, {-3.4f}})) + 4.2 + randn({samples, 1}) * 0.01;
  const data::TensorDataset all({x, y});
  return {.net = nn::Linear(2, 1), .train = all.subset(0, half), .held_out = all.subset(half, samples), .loss = Loss::MeanSquaredError};
}

const Recipe kRecipes[] = {
    {.name = "digits",
     .description = "1,437 handwritten digits to learn from, 360 to be judged by",
     .nets = {"mlp"},
     .epochs = 30,
     .batch = 64,
     .lr = 3e-3,
     .optimizer = "adam",
     .schedule = "none",
     .data = Recipe::Data::Own,
     .make = digits},
    {.name = "linear",
     .description = "A line through 1,000 points in a plane",
     .nets = {"linear"},
     .epochs = 3,
     .batch = 32,
     .lr = 0.03,
     .optimizer = "sgd",
     .schedule = "none",
     .data = Recipe::Data::Own,
     .make = linear},
};

}  // namespace

std::span<const Recipe> recipes() { return kRecipes; }

const Recipe* find_recipe(const std::string& name) {
  for (const Recipe& recipe : kRecipes)
    if (name == recipe.name) return &recipe;
  return nullptr;
}

}  // namespace tandem::tools
