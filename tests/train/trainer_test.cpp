// The Trainer: what it does to a model, in which order, on which devices. Runs that are stopped and go on: interruption_test.cpp.
#include "train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "support/on_device.h"
#include "tandem.h"
#include "train/line.h"
#include "train/ticks.h"

namespace td = tandem;
namespace train = td::train;
using namespace td::testing;

/// The number of GPUs to train on.
class Trainers : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static td::Device first_device() { return GetParam() ? td::gpu(0) : td::cpu(); }
};
INSTANTIATE_TEST_SUITE_P(Gpus, Trainers, testing::Values(0, 1, 2), testing::PrintToStringParamName());

TEST_P(Trainers, LearnALine) {
  td::manual_seed(1);
  Line model;
  train::Trainer trainer({.max_epochs = 30, .num_gpus = GetParam(), .quiet = true});
  trainer.fit(model, line_data());
  EXPECT_EQ(trainer.epoch(), 30);
  EXPECT_EQ(trainer.devices().size(), static_cast<size_t>(std::max(GetParam(), 1)));
  EXPECT_EQ(model.net.weight.device(), first_device());
  EXPECT_TRUE(td::allclose(model.net.weight.cpu(), td::tensor({{1.f, -2.f, 3.f, 0.5f}}), 0.02, 0.02));
  EXPECT_NEAR(model.net.bias.item<double>(), 0.7, 0.02);

  const auto& series = trainer.board().series();
  ASSERT_EQ(series.size(), 2U);
  const auto &losses = series.at("train_loss"), &judged = series.at("val_loss");
  ASSERT_EQ(losses.size(), 60U);
  ASSERT_EQ(judged.size(), 30U);
  // Seven batches an epoch: 0-3 and 4-6 of them; a point stands at the mean of their places.
  EXPECT_NEAR(losses[0].x, (0 + 1 + 2 + 3) / 4. / 7, 1e-12);
  EXPECT_NEAR(losses[3].x, 1 + (4 + 5 + 6) / 3. / 7, 1e-12);
  EXPECT_EQ(judged[4].x, 5);
  EXPECT_GT(losses[0].y, 1);
  EXPECT_LT(judged.back().y, 1e-3);
  EXPECT_NEAR(trainer.validate(model, line_data()).at("val_loss"), judged.back().y, 1e-6);
}

TEST_P(Trainers, GiveTheSameRunTwice) {
  const auto run = [&] {
    Line model;
    train::Trainer trainer({.max_epochs = 2, .num_gpus = GetParam(), .quiet = true, .seed = 3});
    trainer.fit(model, line_data());
    return weights(model);
  };
  const auto once = run();
  (void)td::rand({7});
  EXPECT_TRUE(same(run(), once));
}

TEST(Trainer, OnTwoGpusComputesWhatOneDoes) {
  const auto run = [](int gpus) {
    td::manual_seed(1);
    Line model;
    train::Trainer trainer({.max_epochs = 3, .num_gpus = gpus, .quiet = true});
    trainer.fit(model, line_data());
    return weights(model);
  };
  const auto one = run(1), two = run(2);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(td::allclose(one[i], two[i], 1e-4, 1e-5));
}

TEST(Trainer, TakesAsManyGpusAsThereAre) {
  Line model;
  train::Trainer trainer({.max_epochs = 1, .num_gpus = 8, .quiet = true});
  trainer.fit(model, line_data());
  EXPECT_EQ(trainer.devices(), td::try_all_gpus());
}

/// Writes down what is asked of it.
struct Recorder : Line {
  std::vector<std::string> calls;
  std::vector<int64_t> sizes;

  td::Tensor training_step(const td::data::Batch& batch) override {
    calls.push_back(td::str("train ", batch.size(), training() ? " training" : " evaluating", td::is_grad_enabled() ? " recording" : ""));
    return train::Module::training_step(batch);
  }
  train::Metrics validation_step(const td::data::Batch& batch) override {
    calls.push_back(td::str("judge ", batch.size(), training() ? " training" : " evaluating", td::is_grad_enabled() ? " recording" : ""));
    return {{"val_size", td::tensor(static_cast<double>(batch.size()))}, {"val_one", td::ones({1})}};
  }
};

TEST(Trainer, TrainsThenJudges) {
  const td::data::TensorDataset points({td::randn({5, 4}), td::randn({5, 1})});
  Recorder model;
  train::Trainer trainer({.max_epochs = 1, .quiet = true});
  trainer.fit(model, train::DataModule(points, points.subset(0, 3), {.batch_size = 2}));
  EXPECT_EQ(model.calls, (std::vector<std::string>{"train 2 training recording", "train 2 training recording", "train 1 training recording",
                                                   "judge 2 evaluating", "judge 1 evaluating"}));
  EXPECT_TRUE(model.training());
  // Means weigh samples, not batches.
  EXPECT_DOUBLE_EQ(trainer.board().series().at("val_size").back().y, (2 * 2 + 1 * 1) / 3.);
  EXPECT_DOUBLE_EQ(trainer.board().series().at("val_one").back().y, 1);
}

TEST(Trainer, WithoutDataToJudgeByOnlyTrains) {
  const td::data::TensorDataset points({td::randn({5, 4}), td::randn({5, 1})});
  const train::DataModule data(points, {.batch_size = 5});
  Line model;
  train::Trainer trainer({.max_epochs = 2, .quiet = true});
  trainer.fit(model, data);
  ASSERT_EQ(trainer.board().series().size(), 1U);
  EXPECT_EQ(trainer.board().series().at("train_loss").size(), 2U);  // one batch an epoch has no second half
  EXPECT_NE(error_of([&] { (void)trainer.validate(model, data); }), "no error");
}

/// A model whose gradient is known: the loss is the sum of weight * 3, so each of its two elements has the gradient 3.
struct Known : train::Module {
  td::Tensor weight = td::zeros({2}, {.requires_grad = true});
  void fields(td::nn::Fields& f) override { f("weight", weight); }
  td::Tensor training_step(const td::data::Batch&) override { return (weight * 3).sum(); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override { return td::optim::make<td::optim::SGD>(parameters(), {.lr = 1}); }
};

TEST(Trainer, ClipsGradientsByTheirNorm) {
  const train::DataModule data(td::data::TensorDataset({td::zeros({1, 1})}), {.batch_size = 1});
  const auto weight_after = [&](double clip) {
    Known model;
    train::Trainer trainer({.max_epochs = 1, .num_gpus = 1, .gradient_clip_val = clip, .quiet = true});
    trainer.fit(model, data);
    return -model.weight[0].item<double>();
  };
  EXPECT_NEAR(weight_after(0), 3, 1e-6);
  EXPECT_NEAR(weight_after(10), 3, 1e-6);  // the norm is 4.24: nothing to clip
  EXPECT_NEAR(weight_after(1), std::sqrt(0.5), 1e-5);
}

/// A model that computes with more than it names: a layer, a tensor, and a module of another signature.
struct Forgetful : Line {
  struct Both : td::nn::Callable<Both> {
    td::Tensor scale = td::ones({1}, {.requires_grad = true});
    void fields(td::nn::Fields& f) override { f("scale", scale); }
    td::Tensor forward(const td::Tensor& a, const td::Tensor& b) { return (a + b) * scale; }
  };
  td::nn::Linear forgotten{4, 4}, frozen{4, 4};
  td::Tensor shift = td::zeros({4}, {.requires_grad = true});
  Both both;
  static inline int line = 0;
  Forgetful() { frozen.requires_grad_(false); }
  td::Tensor forward(const td::Tensor& x) override {
    line = __LINE__;
    const td::Tensor y = forgotten(frozen(x)) + shift;
    return net(both(y, x));
  }
};

TEST(Trainer, SaysWhatIsNotNamedInFields) {
  std::ostringstream out;
  Forgetful model;
  train::Trainer trainer({.max_epochs = 2, .output = &out});
  trainer.fit(model, line_data());
  std::vector<std::string> warnings;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);)
    if (line.find("warning: ") == 0) warnings.push_back(line);
  ASSERT_EQ(warnings.size(), 3U) << out.str();  // once each
  const std::string end =
      ": it is not trained, saved or moved with the model; name it there, f(\"name\", part), or switch its requires_grad off";
  const auto at = [](const char* use, int line) { return td::str(", ", use, " at ", __FILE__, ":", line); };
  EXPECT_EQ(warnings[0], "warning: Forgetful.fields() does not name Linear(in_features=4, out_features=4, bias=True)" +
                             at("called", Forgetful::line + 1) + end);
  EXPECT_EQ(warnings[1], "warning: Forgetful.fields() does not name Both()" + end);
  EXPECT_EQ(warnings[2],
            "warning: Forgetful.fields() does not name a tensor of size [4]" + at("used by AddBackward0", Forgetful::line + 1) + end);

  std::ostringstream clean;
  Line named;
  train::Trainer other({.max_epochs = 1, .output = &clean});
  other.fit(named, line_data());
  EXPECT_EQ(clean.str().find("warning"), std::string::npos) << clean.str();
}

TEST_P(Trainers, SayWhyAnUnnamedPartIsOnAnotherDevice) {
  if (GetParam() == 0) return;
  Forgetful model;
  train::Trainer trainer({.max_epochs = 1, .num_gpus = GetParam(), .quiet = true});
  const std::string error = error_of([&] { trainer.fit(model, line_data()); });
  EXPECT_NE(error.find("cuda:0"), std::string::npos) << error;
  EXPECT_NE(error.find("; Forgetful.fields() does not name Linear(in_features=4, out_features=4, bias=True), called at "),
            std::string::npos)
      << error;
  EXPECT_NE(error.find(", so it stayed on cpu: name it there"), std::string::npos) << error;
}

TEST(Trainer, AddsUpTheGradientsOfSeveralBatches) {
  // Batches of 8 whose mean gradients are averaged over two are batches of 16.
  const auto run = [](int64_t batch_size, int accumulate) {
    td::manual_seed(1);
    Line model;
    train::Trainer trainer({.max_epochs = 2, .num_gpus = 1, .accumulate = accumulate, .quiet = true});
    trainer.fit(model, line_data({.batch_size = batch_size, .shuffle = false}));
    EXPECT_EQ(trainer.step(), 2 * 7);
    return weights(model);
  };
  const auto whole = run(16, 1), halves = run(8, 2);
  // The last group is of one batch of 4 in both cases, weighed by half in the second: so the first epoch's last step differs a little.
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_TRUE(td::allclose(whole[i], halves[i], 0.05, 0.05));
  Known model;
  train::Trainer trainer({.max_epochs = 1, .accumulate = 4, .quiet = true});
  trainer.fit(model, train::DataModule(td::data::TensorDataset({td::zeros({8, 1})}), {.batch_size = 1}));
  EXPECT_EQ(trainer.step(), 2);
  EXPECT_NEAR(model.weight[0].item<double>(), -6, 1e-6);  // twice the mean of four times 3
}

/// Writes down what its parts are given.
struct Watched : Line {
  static inline std::vector<td::DType> inputs, outputs, weights;
  td::nn::BatchNorm1d norm{4};
  void fields(td::nn::Fields& f) override {
    Line::fields(f);
    f("norm", norm);
  }
  td::Tensor forward(const td::Tensor& x) override {
    inputs.push_back(x.dtype());
    weights.push_back(net.weight.defined() ? net.weight.dtype() : td::kFloat32);
    weights.push_back(norm.weight.dtype());
    return net(norm(x));
  }
  td::Tensor loss(const td::Tensor& output, const td::Tensor& target) override {
    outputs.push_back(output.dtype());
    return Line::loss(output, target);
  }
};

TEST_P(Trainers, ComputeInAnotherPrecision) {
  td::manual_seed(1);
  Watched model;
  td::nn::initialize(model, td::zeros({1, 4}));
  Watched::inputs.clear();
  Watched::weights.clear();
  train::Trainer trainer({.max_epochs = 40, .num_gpus = GetParam(), .precision = td::kBFloat16, .quiet = true});
  trainer.fit(model, line_data());
  for (const auto dtype : Watched::inputs) EXPECT_EQ(dtype, td::kBFloat16);
  for (size_t i = 0; i < Watched::weights.size(); ++i) EXPECT_EQ(Watched::weights[i], i % 2 ? td::kFloat32 : td::kBFloat16);
  for (const auto dtype : Watched::outputs) EXPECT_EQ(dtype, td::kFloat32);
  for (const auto& parameter : model.parameters()) EXPECT_EQ(parameter.dtype(), td::kFloat32);
  EXPECT_NE(model.norm.running_mean.abs().sum().item<float>(), 0);  // the running statistics are the model's own
  const auto& losses = trainer.board().series().at("val_loss");
  EXPECT_LT(losses.back().y, 0.1 * losses.front().y);
  EXPECT_NE(error_of([] { train::Trainer t({.precision = td::kInt64}); }).find("precision must be bfloat16, float16, float32 or float64"),
            std::string::npos);
}

TEST(Trainer, EndsAfterSoManyBatchesOrSteps) {
  Recorder model;
  const td::data::TensorDataset points({td::randn({10, 4}), td::randn({10, 1})});
  const train::DataModule data(points, points.subset(0, 6), {.batch_size = 2});
  train::Trainer limited({.max_epochs = 2, .limit_train_batches = 2, .limit_val_batches = 1, .quiet = true});
  limited.fit(model, data);
  EXPECT_EQ(model.calls.size(), 6U);
  EXPECT_EQ(limited.step(), 4);
  model.calls.clear();
  train::Trainer stepped({.max_epochs = 9, .max_steps = 7, .quiet = true});
  stepped.fit(model, data);
  EXPECT_EQ(stepped.step(), 7);
  EXPECT_EQ(stepped.epoch(), 1);
  EXPECT_EQ(model.calls.size(), 5U + 3U + 2U);  // an epoch, its validation, and two batches
}

TEST(Trainer, HasOneTrainLossEverywhere) {
  std::ostringstream out;
  Line model;
  train::Trainer trainer({.max_epochs = 2, .output = &out});
  trainer.fit(model, line_data());
  // Seven batches: the halves have four and three, so the mean of their means would be another number.
  const auto& curve = trainer.board().series().at("train_loss");
  const double mean = (4 * curve[2].y + 3 * curve[3].y) / 7;
  const auto& figures = trainer.figures().series();
  ASSERT_EQ(figures.at("train_loss").size(), 2U);
  EXPECT_EQ(figures.at("train_loss")[1].x, 2);
  EXPECT_NEAR(figures.at("train_loss")[1].y, mean, 1e-9 * mean);
  EXPECT_EQ(figures.at("val_loss")[1], trainer.board().series().at("val_loss")[1]);
  const std::string text = train::fixed_number(figures.at("train_loss")[1].y, 4);
  EXPECT_NE(out.str().find("epoch 2/2: train_loss " + text + ","), std::string::npos) << out.str();
  const std::string page = train::report_html(train::make_report(trainer));
  EXPECT_NE(page.find("<tr><td>2</td><td>" + text + "</td>"), std::string::npos);
  EXPECT_NE(page.find("<tr><td>train_loss</td><td>" + text + "</td></tr>"), std::string::npos);  // at the end
}

TEST(Trainer, HasAnyMetricAmongItsFigures) {
  Line model;
  const auto error = std::make_shared<train::MeanSquaredError>();
  train::Trainer trainer({.max_epochs = 3,
                          .early_stopping = train::EarlyStoppingOptions{{.monitor = "val_mse"}, 2},
                          .metrics = {{"val_mse", error}},
                          .quiet = true});
  trainer.fit(model, line_data());
  const auto& curve = trainer.board().series().at("val_mse");
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_LT(curve[2].y, curve[0].y);
  EXPECT_EQ(curve[2].y, error->compute());
  EXPECT_NEAR(curve[2].y, trainer.board().series().at("val_loss")[2].y, 1e-6);  // which is the mean of the same squares
  EXPECT_EQ(trainer.validate(model, line_data()).at("val_mse"), curve[2].y);
}

TEST(Trainer, RefusesMetricsThatItCannotHave) {
  struct Forward : Line {
    train::Metrics validation_step(const td::data::Batch& batch) override {
      return {{"val_loss", loss(forward(batch.input()), batch.target())}};
    }
  };
  Forward model;
  const train::NamedMetrics metrics = {{"val_mse", std::make_shared<train::MeanSquaredError>()}};
  EXPECT_NE(error_of([&] { train::Trainer({.metrics = metrics, .quiet = true}).fit(model, line_data()); }).find("call predict(x)"),
            std::string::npos);
  Line line;
  const train::NamedMetrics twice = {{"val_loss", std::make_shared<train::MeanSquaredError>()}};
  EXPECT_NE(error_of([&] { train::Trainer({.metrics = twice, .quiet = true}).fit(line, line_data()); }).find("two figures"),
            std::string::npos);
}

TEST_P(Trainers, StopAtALossThatIsNoNumber) {
  struct Breaks : Line {
    int64_t batch = 0;
    td::Tensor training_step(const td::data::Batch& from) override {
      const auto loss = train::Module::training_step(from);
      return batch++ == 9 ? loss / 0. - loss / 0. : loss;
    }
  };
  Breaks model;
  train::Trainer trainer({.max_epochs = 5, .num_gpus = GetParam(), .quiet = true});
  EXPECT_NE(error_of([&] { trainer.fit(model, line_data()); }).find("[Trainer.fit] the loss of batch 2 of epoch 2 is nan"),
            std::string::npos);
  EXPECT_EQ(model.predict(td::ones({2, 4}, first_device())).device(), first_device());
}

TEST(EarlyStopping, EndsARunThatNoLongerGetsBetter) {
  /// Judged by what is written down for each epoch.
  struct Judged : Known {
    std::vector<double> given;
    size_t at = 0;
    train::Metrics validation_step(const td::data::Batch&) override { return {{"score", td::tensor(given.at(at++))}}; }
  };
  const td::data::TensorDataset one({td::zeros({1, 1})});
  const auto epochs = [&](std::vector<double> scores, train::EarlyStoppingOptions options) {
    Judged model;
    model.given = std::move(scores);
    train::Trainer trainer({.max_epochs = 6, .early_stopping = options, .quiet = true});
    trainer.fit(model, train::DataModule(one, one));
    return trainer.epoch();
  };
  EXPECT_EQ(epochs({6, 5, 4, 3, 2, 1}, {{.monitor = "score"}, 2}), 6);
  EXPECT_EQ(epochs({6, 5, 5, 5, 2, 1}, {{.monitor = "score"}, 2}), 4);
  EXPECT_EQ(epochs({6, 5, 5, 4, 4, 1}, {{.monitor = "score"}, 2}), 6);
  EXPECT_EQ(epochs({1, 2, 3, 2, 2, 2}, {{.monitor = "score", .maximize = true}, 1}), 4);
  EXPECT_EQ(epochs({1, 1.05, 1.1, 1.15, 1.2, 1.3}, {{.monitor = "score", .maximize = true, .min_delta = 0.5}, 3}), 4);
  EXPECT_NE(error_of([&] {
              epochs({1, 2, 3, 4, 5, 6}, {{.monitor = "accuracy"}, 2});
            }).find("[EarlyStopping] there is no figure accuracy to watch; this run has train_loss, score"),
            std::string::npos);
}

TEST(ModelCheckpoint, KeepsTheBestEpoch) {
  std::filesystem::remove("best.safetensors");
  const auto best = std::make_shared<train::ModelCheckpoint>();
  Line model;
  train::Trainer trainer({.max_epochs = 4, .callbacks = {best}, .quiet = true});
  trainer.fit(model, line_data());
  EXPECT_EQ(best->best(), trainer.board().series().at("val_loss").back().y);
  Line kept;
  td::nn::initialize(kept, td::zeros({1, 4}));
  td::load("best.safetensors", kept);
  EXPECT_TRUE(same(weights(kept), weights(model)));
  EXPECT_NE(error_of([&] { trainer.save_checkpoint("x"); }).find("no fit is under way"), std::string::npos);
}

TEST(Trainer, ShufflesByEpochAndSeed) {
  struct Order : Known {
    std::vector<int64_t> seen;
    td::Tensor training_step(const td::data::Batch& batch) override {
      seen.push_back(batch.input().item<int64_t>());
      return Known::training_step(batch);
    }
  };
  Order model;
  train::Trainer trainer({.max_epochs = 2, .quiet = true});
  trainer.fit(model, train::DataModule(td::data::TensorDataset({td::arange(20)}), {.batch_size = 1, .seed = 6}));
  auto expected = td::data::shuffled_indices(20, 6, 0);
  const auto second = td::data::shuffled_indices(20, 6, 1);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(model.seen, expected);
}

TEST(Trainer, PrintsALineAnEpochWhereItIsToldTo) {
  std::ostringstream out;
  Line model;
  train::Trainer trainer({.max_epochs = 2, .output = &out});
  trainer.fit(model, line_data());
  EXPECT_EQ(out.str().rfind("epoch 1/2: train_loss ", 0), 0U) << out.str();
  EXPECT_NE(out.str().find("\nepoch 2/2: train_loss "), std::string::npos);
  EXPECT_NE(out.str().find(", val_loss "), std::string::npos);
  EXPECT_NE(out.str().find(" samples/s)"), std::string::npos);
  std::ostringstream nothing;
  train::Trainer quiet({.max_epochs = 1, .quiet = true, .output = &nothing});
  quiet.fit(model, line_data());
  EXPECT_EQ(nothing.str(), "");
}

TEST(Trainer, SaysWhatIsMissing) {
  struct Nothing : train::Module {
    td::nn::Linear net{1, 1};
    void fields(td::nn::Fields& f) override { f("net", net); }
    td::Tensor forward(const td::Tensor& x) override { return net(x); }
  };
  const train::DataModule data(td::data::TensorDataset({td::zeros({4, 1}), td::zeros({4, 1})}));
  Nothing nothing;
  train::Trainer trainer({.max_epochs = 1, .quiet = true});
  EXPECT_NE(error_of([&] { trainer.fit(nothing, data); }).find("[Nothing] has no optimizer: override configure_optimizers()"),
            std::string::npos);
  struct NoLoss : Nothing {
    std::unique_ptr<td::optim::Optimizer> configure_optimizers() override { return td::optim::make<td::optim::SGD>(parameters()); }
  };
  NoLoss no_loss;
  EXPECT_NE(error_of([&] { trainer.fit(no_loss, data); }).find("[NoLoss] has no loss: override loss(output, target)"), std::string::npos);
  Line line;
  const train::DataModule empty(td::data::TensorDataset({td::zeros({0, 4}), td::zeros({0, 1})}));
  EXPECT_NE(error_of([&] { trainer.fit(line, empty); }).find("nothing to train on"), std::string::npos);
  EXPECT_NE(error_of([&] { trainer.fit(static_cast<train::Module&>(line), line_data()); }),
            "no error");  // it could not be copied to other GPUs

  EXPECT_NE(error_of([] { train::Trainer t({.max_epochs = -1}); }).find("max_epochs must not be negative, but is -1"), std::string::npos);
  EXPECT_NE(error_of([] { train::Trainer t({.num_gpus = -1}); }).find("num_gpus"), std::string::npos);
  EXPECT_NE(error_of([] { train::Trainer t({.gradient_clip_val = -0.5}); }).find("gradient_clip_val"), std::string::npos);
  EXPECT_NE(error_of([] { train::Trainer t({.resume = true}); }).find("resume needs a checkpoint_dir"), std::string::npos);
}

TEST(Trainer, AfterAnErrorLeavesTheModelUsable) {
  struct Fails : Line {
    td::Tensor training_step(const td::data::Batch& batch) override {
      (void)train::Module::training_step(batch);
      td::fail("no more");
    }
  };
  Fails model;
  train::Trainer trainer({.max_epochs = 1, .num_gpus = 2, .quiet = true});
  EXPECT_EQ(error_of([&] { trainer.fit(model, line_data()); }), "no more");
  EXPECT_EQ(model.predict(td::ones({2, 4}, td::gpu(0))).device(), td::gpu(0));  // by itself again
}

TEST(Classifier, CountsWhatIsRight) {
  struct Given : train::Classifier {
    td::Tensor forward(const td::Tensor& x) override { return x; }
  };
  Given model;
  // Three rows right of four; in another batch one of one.
  const td::Tensor logits = td::tensor({{2., 1., 0.}, {0., 3., 0.}, {0., 0., 1.}, {1., 0., 0.}});
  const td::Tensor labels = td::tensor({0, 1, 2, 2});
  EXPECT_DOUBLE_EQ(train::accuracy(logits, labels).item<double>(), 0.75);
  const auto metrics = model.validation_step({{logits, labels}});
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].first, "val_loss");
  EXPECT_NEAR(metrics[0].second.item<double>(), td::cross_entropy(logits, labels).item<double>(), 1e-7);
  EXPECT_EQ(metrics[1].first, "val_acc");
  EXPECT_DOUBLE_EQ(metrics[1].second.item<double>(), 0.75);
  const td::data::TensorDataset five({td::cat({logits, logits.slice(0, 0, 1)}), td::cat({labels, labels.slice(0, 0, 1)})});
  const train::Trainer trainer({.quiet = true});
  EXPECT_DOUBLE_EQ(trainer.validate(model, train::DataModule(five, five, {.batch_size = 4})).at("val_acc"), 0.8);
}

TEST(Predict, OfACopyIsItsOwn) {
  struct Copies : Line {
    std::vector<Copies> kept;
    td::Tensor training_step(const td::data::Batch& batch) override {
      if (kept.empty()) kept.push_back(*this);
      return train::Module::training_step(batch);
    }
  };
  Copies model;
  train::Trainer trainer({.max_epochs = 1, .num_gpus = 1, .quiet = true});
  trainer.fit(model, line_data());
  ASSERT_EQ(model.kept.size(), 1U);
  EXPECT_EQ(model.kept[0].predict(td::ones({3, 4}, td::gpu(0))).sizes(), (td::Shape{3, 1}));
}
