// The Trainer in mixed precision: what computes in what, that it learns as well as in float32, and that it goes on from a checkpoint.
#include <filesystem>

#include "line.h"
#include "support/on_device.h"

namespace td = tandem;
namespace nn = td::nn;
namespace train = td::train;
using td::testing::line_data, td::testing::same, td::testing::weights;

namespace {

int gpus_of(const char* device) { return td::Device(device).is_cuda() ? 1 : 0; }

/// A small network for the digits.
struct Digits : train::Classifier {
  nn::Sequential net{nn::Linear(64, 64), nn::BatchNorm1d(64), nn::ReLU(), nn::Linear(64, 10)};
  void fields(nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x.flatten(1)); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
    return td::optim::make<td::optim::Adam>(parameters(), {.lr = 3e-3});
  }
};

double accuracy_of(train::TrainerPrecision precision, int gpus) {
  td::manual_seed(3);
  Digits model;
  const td::data::Digits digits;
  const train::DataModule data(digits.train(), digits.held_out(), {.batch_size = 64, .seed = 1});
  train::Trainer trainer({.max_epochs = 6, .num_gpus = gpus, .precision = precision, .quiet = true});
  trainer.fit(model, data);
  for (const auto& parameter : model.parameters()) EXPECT_EQ(parameter.dtype(), td::kFloat32);
  return trainer.board().series().at("val_acc").back().y;
}

class MixedPrecision : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, MixedPrecision, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(MixedPrecision, ReachesTheAccuracyOfFloat32) {
  const double full = accuracy_of("32", gpus_of(GetParam()));
  EXPECT_GT(full, 0.93);
  EXPECT_NEAR(accuracy_of("bf16-mixed", gpus_of(GetParam())), full, 0.01);
  EXPECT_NEAR(accuracy_of("16-mixed", gpus_of(GetParam())), full, 0.01);
}

/// Notes the dtypes that its layer and its loss meet.
struct Watched : td::testing::Line {
  static inline std::vector<td::DType> products, outputs;
  td::Tensor forward(const td::Tensor& x) override {
    td::Tensor y = Line::forward(x);
    products.push_back(y.dtype());
    return y;
  }
  td::Tensor loss(const td::Tensor& output, const td::Tensor& target) override {
    outputs.push_back(output.dtype());
    return Line::loss(output, target);
  }
};

TEST_P(MixedPrecision, ProductsAreLowTheLossIsNot) {
  for (const auto& [name, dtype] : {std::pair("bf16-mixed", td::kBFloat16), std::pair("16-mixed", td::kFloat16)}) {
    Watched model;
    nn::initialize(model, td::zeros({1, 4}));  // that pass is none of the training's
    Watched::products.clear();
    Watched::outputs.clear();
    train::Trainer trainer({.max_epochs = 2, .num_gpus = gpus_of(GetParam()), .gradient_clip_val = 1, .precision = name, .quiet = true});
    trainer.fit(model, line_data());
    for (const td::DType met : Watched::products) EXPECT_EQ(met, dtype);
    for (const td::DType met : Watched::outputs) EXPECT_EQ(met, td::kFloat32);
    Watched::products.clear();
    Watched::outputs.clear();
    EXPECT_EQ(trainer.validate(model, line_data()).count("val_loss"), 1U);
    EXPECT_FALSE(Watched::products.empty());
    for (const td::DType met : Watched::products) EXPECT_EQ(met, dtype);
    for (const td::DType met : Watched::outputs) EXPECT_EQ(met, td::kFloat32);
    EXPECT_FALSE(td::is_autocast_enabled(GetParam()));
  }
}

/// Stops after so many batches.
struct StopAfter : train::Callback {
  int left;
  explicit StopAfter(int batches) : left(batches) {}
  void on_train_batch_end(train::Trainer& trainer, train::Module&, int64_t) override {
    if (--left == 0) trainer.stop();
  }
};

TEST_P(MixedPrecision, GoesOnFromACheckpointToTheBit) {
  const auto options = [&](const char* folder) {
    return train::TrainerOptions{
        .max_epochs = 4, .num_gpus = gpus_of(GetParam()), .precision = "16-mixed", .checkpoint_dir = folder, .resume = true, .quiet = true};
  };
  std::filesystem::remove_all("whole");
  std::filesystem::remove_all("parts");
  td::manual_seed(1);
  td::testing::Line whole;
  train::Trainer(options("whole")).fit(whole, line_data());
  td::manual_seed(1);
  td::testing::Line first;
  auto stopping = options("parts");
  stopping.callbacks = {std::make_shared<StopAfter>(10)};
  train::Trainer(stopping).fit(first, line_data());
  const auto read = td::io::load_safetensors("parts/checkpoint.safetensors");
  EXPECT_LT(read.at("scaler.scale").item<double>(), 65536);  // the first gradients are infinite
  EXPECT_GT(read.at("scaler._growth_tracker").item<int64_t>(), 0);
  td::testing::Line second;
  train::Trainer(options("parts")).fit(second, line_data());
  EXPECT_TRUE(same(weights(second), weights(whole)));
  const auto one = td::io::load_safetensors("whole/checkpoint.safetensors"),
             other = td::io::load_safetensors("parts/checkpoint.safetensors");
  for (const char* name : {"scaler.scale", "scaler._growth_tracker"}) EXPECT_TRUE(td::equal(one.at(name), other.at(name))) << name;
}

TEST(TrainerPrecision, HasLightningsNames) {
  EXPECT_EQ(train::TrainerPrecision().str(), "32");
  EXPECT_EQ(train::TrainerPrecision("32-true").str(), "32");
  EXPECT_EQ(train::TrainerPrecision("bf16-mixed").mixed(), td::kBFloat16);
  EXPECT_EQ(train::TrainerPrecision("16-mixed").str(), "16-mixed");
  EXPECT_EQ(train::TrainerPrecision(td::kBFloat16).whole(), td::kBFloat16);
  EXPECT_EQ(train::TrainerPrecision(td::kBFloat16).str(), "bfloat16");
  EXPECT_NE(error_of([] { train::TrainerPrecision("bf16"); }).find("precision must be '32', 'bf16-mixed', '16-mixed'"), std::string::npos);
}

}  // namespace
