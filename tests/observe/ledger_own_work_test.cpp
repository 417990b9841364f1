// What the library waits for on its own account: told apart, with the line that ordered it, and never refused. And threads that work for
// the loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "data/support.h"
#include "observe/ledger/ledger.h"
#include "tandem.h"

namespace td = tandem;
namespace ledger = td::ledger;

namespace {

td::data::TensorDataset numbers(int64_t count) { return td::data::TensorDataset({td::randn({count, 4}), td::randint(0, 2, {count})}); }

/// All waits are the library's own, and `reason` is among the entries, ordered by `line`.
void expect_own(const ledger::Recorder& recorder, const std::string& reason, int line) {
  bool found = false;
  for (const auto& entry : recorder.entries()) {
    EXPECT_TRUE(entry.own || !entry.blocking) << recorder.report();
    if (entry.reason != reason) continue;
    found = true;
    EXPECT_TRUE(entry.file.ends_with("ledger_own_work_test.cpp")) << entry.file;
    EXPECT_EQ(entry.line, line);
  }
  EXPECT_TRUE(found) << reason << " is not in\n" << recorder.report();
}

TEST(LedgerOwnWork, ADataLoadersCopiesBelongToItsLine) {
  for (const int workers : {0, 2}) {
    td::data::DataLoader loader(numbers(8), {.batch_size = 2, .num_workers = workers, .device = td::gpu(0)});
    const int line = __LINE__ - 1;
    const ledger::Recorder recorder;
    const ledger::Guard guard(ledger::Mode::forbid);
    int batches = 0;
    for (const auto& batch : loader) batches += batch.input().is_cuda();
    EXPECT_EQ(batches, 4);
    expect_own(recorder, "the DataLoader's copies to the GPU", line);
  }
}

/// Reads a value of a GPU for each sample.
class Waiting : public td::data::Dataset {
 public:
  explicit Waiting(td::Tensor x) : x_(std::move(x)) {}
  [[nodiscard]] int64_t size() const override { return 4; }
  [[nodiscard]] td::data::Sample get(int64_t) const override { return {{td::tensor(x_.sum().item<float>())}}; }

 private:
  td::Tensor x_;
};

TEST(LedgerOwnWork, ADatasetThatWaitsIsTheUsers) {
  const Waiting waiting(td::ones({10}, td::gpu(0)));
  for (const int workers : {0, 2}) {
    td::data::DataLoader loader(waiting, {.batch_size = 2, .num_workers = workers});
    const ledger::Guard guard(ledger::Mode::forbid);
    EXPECT_THROW(
        {
          for (const auto& batch : loader) (void)batch;
        },
        ledger::ForbiddenError)
        << workers << " workers";
  }
}

/// A line with four inputs, which may read its loss in each step.
struct Line : td::train::Module {
  static constexpr int kReadingLine = __LINE__ + 8;
  td::nn::Linear net{4, 1};
  bool reads = false;

  void fields(td::nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x); }
  td::Tensor loss(const td::Tensor& output, const td::Tensor& target) override {
    const td::Tensor loss = td::mse_loss(output, target);
    if (reads) (void)loss.item<double>();
    return loss;
  }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
    return td::optim::make<td::optim::Adam>(parameters(), {.lr = 0.05});
  }
};

td::train::DataModule line_data() {
  const td::data::TensorDataset all({td::randn({60, 4}), td::randn({60, 1})});
  return {all.subset(0, 50), all.subset(50, 60), {.batch_size = 4}};
}

class LedgerOwnWorkOnGpus : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Gpus, LedgerOwnWorkOnGpus, testing::Values(1, 2), testing::PrintToStringParamName());

TEST_P(LedgerOwnWorkOnGpus, ATrainersWaitsBelongToTheLineOfFit) {
  std::filesystem::remove_all("ledger_runs");
  const td::data::TensorDataset all({td::randn({60, 4}), td::randn({60, 1})});
  const int data_line = __LINE__ + 1;
  const td::train::DataModule data(all.subset(0, 50), all.subset(50, 60), {.batch_size = 4});
  for (const bool resume : {false, true}) {
    Line model;
    td::train::Trainer trainer(
        {.max_epochs = resume ? 3 : 2, .num_gpus = GetParam(), .checkpoint_dir = "ledger_runs", .resume = resume, .quiet = true});
    const ledger::Recorder recorder;
    const ledger::Guard guard(ledger::Mode::forbid);
    const int line = __LINE__ + 1;
    trainer.fit(model, data);
    expect_own(recorder, "the DataLoader's copies to the GPU", data_line);
    for (const char* reason : {"the Trainer's reading of losses", "the reading of evaluation's figures", "the writing of a checkpoint",
                               "the Trainer's move of the model"})
      expect_own(recorder, reason, line);
    if (resume) expect_own(recorder, "the reading of a checkpoint", line);
  }
}

TEST(LedgerOwnWork, AModelThatWaitsIsTheUsers) {
  Line model;
  model.reads = true;
  td::train::Trainer trainer({.max_epochs = 1, .num_gpus = 1, .quiet = true});
  const auto data = line_data();
  {
    const ledger::Recorder recorder;
    trainer.fit(model, data);
    const auto entries = recorder.entries();
    EXPECT_EQ(std::count_if(entries.begin(), entries.end(),
                            [](const auto& entry) { return !entry.own && entry.blocking && entry.line == Line::kReadingLine; }),
              13 + 3)
        << recorder.report();
  }
  const ledger::Guard guard(ledger::Mode::forbid);
  try {
    trainer.fit(model, data);
    ADD_FAILURE() << "not refused";
  } catch (const ledger::ForbiddenError& error) {
    EXPECT_NE(std::string(error.what()).find(td::str("ledger_own_work_test.cpp:", Line::kReadingLine)), std::string::npos) << error.what();
  }
}

struct Reads : td::nn::Module {
  void fields(td::nn::Fields&) override {}
  td::Tensor forward(const td::Tensor& x) override { return x * x.sum().item<float>(); }
};

TEST(LedgerOwnWork, ReplicasThatAreThreadsInheritTheGuard) {
  std::vector<Reads> replicas(2);
  const std::vector<td::Tensor> inputs = {td::ones({1}, td::gpu(0)), td::ones({1}, td::gpu(1))};
  const ledger::Guard guard(ledger::Mode::forbid);
  const ledger::Guard allowed(ledger::Mode::allow, "replicas");
  const ledger::Recorder recorder;
  (void)td::parallel::parallel_apply(replicas, inputs, {.threads = true});
  const auto entries = recorder.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_NE(entries[0].thread, entries[1].thread);
  for (const auto& entry : entries) EXPECT_EQ(entry.reason, "replicas");
  const ledger::Guard again(ledger::Mode::forbid);
  EXPECT_THROW((void)td::parallel::parallel_apply(replicas, inputs, {.threads = true}), ledger::ForbiddenError);
}

}  // namespace
