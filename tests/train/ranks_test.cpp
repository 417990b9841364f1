// A Trainer's run divided among ranks: the weights, curves and files of a run of one process.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <utility>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace train = td::train;

namespace {

struct Classes : train::Classifier {
  td::nn::Sequential net{td::nn::Linear(4, 8), td::nn::Tanh(), td::nn::Linear(8, 3)};
  void fields(td::nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
    return td::optim::make<td::optim::SGD>(parameters(), {.lr = 0.3, .momentum = 0.9});
  }
};

/// 50 samples to learn from and 21 to judge by: the ranks cannot divide all batches evenly.
train::DataModule class_data() {
  td::manual_seed(5);
  const auto x = td::randn({71, 4});
  const td::data::TensorDataset all({x, td::matmul(x, td::randn({4, 3})).argmax(1)});
  return {all.subset(0, 50), all.subset(50, 71), {.batch_size = 16}};
}

struct Outcome {
  std::vector<td::Tensor> weights;
  std::vector<double> losses, accuracies;
  int64_t steps = 0;
};

struct CountCalls : train::Callback {
  std::atomic<int>& calls;
  explicit CountCalls(std::atomic<int>& calls) : calls(calls) {}
  void on_fit_start(train::Trainer&, train::Module&) override { ++calls; }
};

Outcome fit(train::TrainerOptions options) {
  static std::mutex generator;  // which ranks that are threads share
  const auto [data, start] = [] {
    const std::lock_guard lock(generator);
    td::manual_seed(1);
    Classes fresh;
    return std::pair(class_data(), fresh);
  }();
  Classes model = start;
  options.quiet = true;
  train::Trainer trainer(options);
  trainer.fit(model, data);
  Outcome outcome;
  for (const auto& parameter : model.parameters()) outcome.weights.push_back(parameter.detach().cpu().clone());
  for (const auto& point : trainer.board().series().at("train_loss")) outcome.losses.push_back(point.y);
  for (const auto& point : trainer.board().series().at("val_acc")) outcome.accuracies.push_back(point.y);
  outcome.steps = trainer.step();
  return outcome;
}

void expect_near(const Outcome& got, const Outcome& expected) {
  ASSERT_EQ(got.weights.size(), expected.weights.size());
  for (size_t i = 0; i < got.weights.size(); ++i) EXPECT_TRUE(td::allclose(got.weights[i], expected.weights[i], 1e-4, 1e-5)) << i;
  ASSERT_EQ(got.losses.size(), expected.losses.size());
  for (size_t i = 0; i < got.losses.size(); ++i) EXPECT_NEAR(got.losses[i], expected.losses[i], 1e-4);
  EXPECT_EQ(got.accuracies.size(), expected.accuracies.size());
  for (size_t i = 0; i < got.accuracies.size(); ++i) EXPECT_NEAR(got.accuracies[i], expected.accuracies[i], 1e-6);
  EXPECT_EQ(got.steps, expected.steps);
}

TEST(TrainerOnRanks, TrainsAsOneProcessDoes) {
  for (const int accumulate : {1, 3}) {
    const train::TrainerOptions options{.max_epochs = 3, .gradient_clip_val = 1, .accumulate = accumulate};
    const Outcome expected = fit(options);
    for (const int ranks : {2, 3}) td::distributed::run_ranks(ranks, [&](int) { expect_near(fit(options), expected); });
  }
}

TEST(TrainerOnRanks, OnGpusTrainsAsOneProcessDoes) {
  const train::TrainerOptions options{.max_epochs = 2, .num_gpus = 1};
  const Outcome expected = fit(options);
  td::distributed::run_ranks(2, [&](int) { expect_near(fit(options), expected); });
}

TEST(TrainerOnRanks, RankZeroWritesAndAllGoOnFromIt) {
  const std::string folder = "ranks_checkpoint";
  std::filesystem::remove_all(folder);
  const Outcome expected = fit({.max_epochs = 4});
  std::atomic<int> calls = 0;
  for (const bool resume : {false, true}) {
    td::distributed::run_ranks(2, [&](int) {
      const Outcome outcome = fit({.max_epochs = resume ? 4 : 2,
                                   .checkpoint_dir = folder,
                                   .checkpoint_every = 3,
                                   .resume = resume,
                                   .callbacks = {std::make_shared<CountCalls>(calls)}});
      if (resume) expect_near(outcome, expected);
    });
  }
  EXPECT_EQ(calls, 2);
}

TEST(TrainerOnRanks, NodesMustHaveBeenStarted) {
  EXPECT_NE(error_of([] { (void)fit({.num_nodes = 2}); }).find("num_nodes is 2, but this program has 1 rank"), std::string::npos);
  EXPECT_NE(error_of([] { (void)fit({.num_nodes = 0}); }).find("num_nodes must be positive"), std::string::npos);
}

}  // namespace
