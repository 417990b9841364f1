// Runs of the Trainer that are stopped, by a callback or by Ctrl-C, and go on from their checkpoint: as if they had never been.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/on_device.h"
#include "tandem.h"
#include "train/line.h"
#include "train/trainer.h"

namespace td = tandem;
namespace train = td::train;
using namespace td::testing;

namespace {

std::vector<double> heights(const std::vector<train::Point>& points) {
  std::vector<double> values;
  for (const auto& point : points) values.push_back(point.y);
  return values;
}

/// On so many GPUs.
class Resumed : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Gpus, Resumed, testing::Values(0, 1, 2), testing::PrintToStringParamName());

TEST_P(Resumed, GoOnAsIfNeverInterrupted) {
  const std::string folder = "resume" + std::to_string(GetParam());
  std::filesystem::remove_all(folder);
  const auto data = line_data();
  const auto run = [&](Line& model, int epochs, std::string where, bool resume) {
    train::Trainer trainer({.max_epochs = epochs,
                            .num_gpus = GetParam(),
                            .gradient_clip_val = 1,
                            .checkpoint_dir = std::move(where),
                            .resume = resume,
                            .quiet = true});
    trainer.fit(model, data);
    return heights(trainer.board().series().at("train_loss"));
  };
  td::manual_seed(1);
  Line whole;
  const auto whole_losses = run(whole, 5, "", false);
  const auto whole_numbers = td::rand({3});
  td::manual_seed(1);
  Line first;
  run(first, 2, folder, false);
  EXPECT_FALSE(same(weights(first), weights(whole)));
  td::manual_seed(77);  // a new process starts with other random numbers
  Line second;
  EXPECT_EQ(run(second, 5, folder, true), whole_losses);
  EXPECT_TRUE(same(weights(second), weights(whole)));
  EXPECT_TRUE(td::equal(td::rand({3}), whole_numbers));
  // Nothing is left to do: the model is the checkpoint's.
  Line third;
  EXPECT_EQ(run(third, 5, folder, true), whole_losses);
  EXPECT_TRUE(same(weights(third), weights(whole)));
}

/// Ends its run after some batch, as Ctrl-C would.
struct StopAfter : train::Callback {
  int64_t left;
  explicit StopAfter(int64_t batches) : left(batches) {}
  void on_train_batch_end(train::Trainer& trainer, train::Module&, int64_t) override {
    if (--left == 0) trainer.stop();
  }
};

/// A schedule for each step, one for each epoch, dropout: all that a resumed run must find again.
struct Scheduled : Line {
  td::nn::Dropout dropout{0.2};
  td::Tensor forward(const td::Tensor& x) override { return net(dropout(x)); }
  std::vector<train::Scheduled> configure_schedules(td::optim::Optimizer& optimizer, int64_t total_steps) override {
    steps = total_steps;
    return {{std::make_shared<td::optim::OneCycleLR>(optimizer, 0.1, total_steps), train::Scheduled::Each::Step},
            std::make_shared<td::optim::ReduceLROnPlateau>(optimizer, td::optim::PlateauOptions{.factor = 0.9, .patience = 0})};
  }
  int64_t steps = 0;
};

TEST_P(Resumed, GoOnInTheMiddleOfAnEpoch) {
  const std::string folder = "middle" + std::to_string(GetParam());
  const auto run = [&](Scheduled& model, std::string where, std::vector<std::shared_ptr<train::Callback>> callbacks) {
    train::Trainer trainer({.max_epochs = 3,
                            .num_gpus = GetParam(),
                            .checkpoint_dir = std::move(where),
                            .resume = true,
                            .callbacks = std::move(callbacks),
                            .quiet = true});
    trainer.fit(model, line_data());
    return trainer;
  };
  for (const int64_t stop_after : {3, 7, 10, 20}) {
    std::filesystem::remove_all(folder);
    std::filesystem::remove_all(folder + "whole");
    td::manual_seed(1);
    Scheduled whole;
    const auto uninterrupted = run(whole, folder + "whole", {});
    EXPECT_EQ(whole.steps, 3 * 7);
    td::manual_seed(1);
    Scheduled first;
    const auto stopped = run(first, folder, {std::make_shared<StopAfter>(stop_after)});
    EXPECT_EQ(stopped.step(), stop_after);
    EXPECT_FALSE(same(weights(first), weights(whole)));
    td::manual_seed(99);
    Scheduled second;
    const auto resumed = run(second, folder, {});
    EXPECT_TRUE(same(weights(second), weights(whole))) << "stopped after " << stop_after;
    EXPECT_EQ(resumed.board().series(), uninterrupted.board().series());
    EXPECT_EQ(resumed.step(), uninterrupted.step());
    EXPECT_EQ(resumed.figures().series(), uninterrupted.figures().series());
    // The files, too, are the same but for the time: optimizer, schedules, curves, generators.
    td::io::SafetensorsFile one = td::io::read_safetensors(resumed.checkpoint_path());
    td::io::SafetensorsFile other = td::io::read_safetensors(uninterrupted.checkpoint_path());
    EXPECT_EQ(one.metadata.erase("trainer_seconds"), 1U);
    EXPECT_EQ(other.metadata.erase("trainer_seconds"), 1U);
    EXPECT_EQ(one.metadata, other.metadata);
    ASSERT_EQ(one.tensors.size(), other.tensors.size());
    for (const auto& [name, tensor] : one.tensors) EXPECT_TRUE(td::equal(tensor, other.tensors.at(name))) << name;
  }
}

TEST(Interruption, WritesACheckpointEverySoManySteps) {
  std::filesystem::remove_all("every");
  struct Looks : train::Callback {
    std::vector<bool> there;
    void on_train_batch_end(train::Trainer& trainer, train::Module&, int64_t) override {
      there.push_back(std::filesystem::exists(trainer.checkpoint_path()));
    }
  };
  const auto looks = std::make_shared<Looks>();
  Line model;
  train::Trainer trainer({.max_epochs = 1, .checkpoint_dir = "every", .checkpoint_every = 3, .callbacks = {looks}, .quiet = true});
  trainer.fit(model, line_data());
  EXPECT_EQ(looks->there, (std::vector<bool>{false, false, false, true, true, true, true}));
  // With another size of batches there is no place to go on from.
  train::Trainer stopped(
      {.max_epochs = 2, .checkpoint_dir = "every", .resume = true, .callbacks = {std::make_shared<StopAfter>(2)}, .quiet = true});
  stopped.fit(model, line_data());
  train::Trainer other({.max_epochs = 2, .checkpoint_dir = "every", .resume = true, .quiet = true});
  EXPECT_NE(error_of([&] {
              other.fit(model, line_data({.batch_size = 50}));
            }).find("stopped after batch 2 of 7 an epoch, but here an epoch has 2: go on with the same data and batch_size"),
            std::string::npos);
}

TEST(Interruption, CountsTheTimeOfAllSessions) {
  std::filesystem::remove_all("sessions");
  const auto train_until = [](int epochs) {
    Line model;
    train::Trainer trainer({.max_epochs = epochs, .checkpoint_dir = "sessions", .resume = true, .quiet = true});
    trainer.fit(model, line_data());
    return trainer;
  };
  const std::string path = train_until(1).checkpoint_path();
  td::io::SafetensorsFile file = td::io::read_safetensors(path);
  EXPECT_LT(std::stod(file.metadata.at("trainer_seconds")), 3600);
  for (const char* seconds : {"5000.5", "-1", "many", "null", "[[1]]"}) {
    file.metadata["trainer_seconds"] = seconds;
    td::io::save_safetensors(path, file.tensors, file.metadata);
    if (std::string(seconds) == "5000.5") {
      const train::Trainer trainer = train_until(1);  // nothing is left to do
      EXPECT_GE(trainer.seconds(), 5000.5);
      EXPECT_EQ(trainer.seconds(), trainer.seconds());  // it has ended
    } else {
      EXPECT_NE(error_of([&] { train_until(2); }).find("damaged"), std::string::npos) << seconds;
    }
  }
}

/// What Ctrl-C does until the end of the scope, whoever started the tests and however.
class CtrlC {
 public:
  explicit CtrlC(void (*handler)(int)) : before_(std::signal(SIGINT, handler)) {}
  ~CtrlC() { std::signal(SIGINT, before_); }
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;

 private:
  void (*before_)(int);
};

/// Presses it after the third batch.
struct Presses : train::Callback {
  void on_train_batch_end(train::Trainer&, train::Module&, int64_t batch) override {
    if (batch == 2) std::raise(SIGINT);
  }
};

TEST(Interruption, SavesWhatCtrlCInterrupts) {
  const CtrlC ends_the_program(SIG_DFL);
  std::filesystem::remove_all("interrupted");
  std::ostringstream out;
  Line model;
  train::Trainer trainer({.max_epochs = 5, .checkpoint_dir = "interrupted", .callbacks = {std::make_shared<Presses>()}, .output = &out});
  trainer.fit(model, line_data());
  EXPECT_TRUE(trainer.interrupted());
  EXPECT_EQ(trainer.step(), 3);
  EXPECT_EQ(out.str(),
            "interrupted in epoch 1 after batch 3 of 7: saved interrupted/checkpoint.safetensors; the option resume goes on from there\n");
  EXPECT_TRUE(std::filesystem::exists(trainer.checkpoint_path()));
  train::Trainer rest({.max_epochs = 1, .checkpoint_dir = "interrupted", .resume = true, .quiet = true});
  rest.fit(model, line_data());
  EXPECT_FALSE(rest.interrupted());
  EXPECT_EQ(rest.step(), 7);
}

TEST(Interruption, GoesOnWhereCtrlCDoesNothing) {  // as under nohup
  const CtrlC does_nothing(SIG_IGN);
  Line model;
  train::Trainer trainer({.max_epochs = 1, .callbacks = {std::make_shared<Presses>()}, .quiet = true});
  trainer.fit(model, line_data());
  EXPECT_FALSE(trainer.interrupted());
  EXPECT_EQ(trainer.step(), 7);
}

}  // namespace
