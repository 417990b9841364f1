// save and load: a model and its optimizer there and back, across devices; files that do not fit change nothing.
#include "train/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace nn = td::nn;
namespace io = td::io;

namespace {

nn::Sequential model_on(td::Device device) {
  nn::Sequential net(nn::Linear(4, 3), nn::ReLU(), nn::Linear(3, 2));
  net.to(device);
  return net;
}

void step(nn::Sequential& net, td::optim::Optimizer& optimizer, td::Device device) {
  optimizer.zero_grad();
  td::cross_entropy(net(td::arange(8.).reshape({2, 4}).to(device)), td::tensor({0, 1}, device)).backward();
  optimizer.step();
}

bool same_parameters(const nn::Module& a, const nn::Module& b) {
  const auto left = a.parameters(), right = b.parameters();
  for (size_t i = 0; i < left.size(); ++i)
    if (!td::equal(left[i].cpu(), right[i].cpu())) return false;
  return left.size() == right.size();
}

}  // namespace

class Checkpoints : public OnDevice {};

TEST_P(Checkpoints, BringModelAndOptimizerToAnyDevice) {
  auto net = model_on(device());
  td::optim::Adam adam(net.parameters(), {.lr = 0.1});
  for (int i = 0; i < 3; ++i) step(net, adam, device());
  td::save("net.ckpt", net, adam);

  for (const char* name : {"cpu", "cuda:1"}) {
    const td::Device there(name);
    auto other = model_on(there);
    td::optim::Adam resumed(other.parameters(), {.lr = 0.5});
    td::load("net.ckpt", other, resumed);
    EXPECT_TRUE(same_parameters(other, net));
    EXPECT_EQ(other.parameters()[0].device(), there);
    EXPECT_EQ(resumed.param_groups()[0].lr, 0.1);
    // The next step is the one that the first would have made.
    auto copy = nn::clone(net);
    td::optim::Adam going_on(copy.parameters());
    td::load("net.ckpt", copy, going_on);
    step(copy, going_on, device());
    step(other, resumed, there);
    const auto expected = copy.parameters(), got = other.parameters();
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(td::allclose(got[i].cpu(), expected[i].cpu(), 1e-6, 1e-7));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Checkpoints, testing::Values("cpu", "cuda:0"), device_name);

TEST(Checkpoint, OfAModelAloneIsReadAlone) {
  auto net = model_on(td::cpu()), other = model_on(td::cpu());
  ASSERT_FALSE(same_parameters(net, other));
  td::save("alone.ckpt", net);
  td::load("alone.ckpt", other);
  EXPECT_TRUE(same_parameters(net, other));
  // The model's part of a checkpoint with an optimizer, too.
  auto third = model_on(td::cpu());
  td::save("both.ckpt", net, td::optim::SGD(net.parameters()));
  td::load("both.ckpt", third);
  EXPECT_TRUE(same_parameters(net, third));
}

TEST(Checkpoint, OfAnotherLibraryHasBareNames) {
  auto net = model_on(td::cpu()), other = model_on(td::cpu());
  const auto state = net.state_dict();
  io::save_safetensors("bare.safetensors", io::TensorMap(state.begin(), state.end()), {{"format", "pt"}});
  td::load("bare.safetensors", other);
  EXPECT_TRUE(same_parameters(net, other));
}

TEST(Checkpoint, GivesLazyModulesTheirSizes) {
  auto net = nn::Sequential(nn::Linear(4, 3));
  td::save("lazy.ckpt", net);
  auto lazy = nn::Sequential(nn::LazyLinear(3));
  td::load("lazy.ckpt", lazy);
  EXPECT_TRUE(same_parameters(net, lazy));
}

TEST(Checkpoint, ThatDoesNotFitChangesNothing) {
  auto net = model_on(td::cpu());
  td::optim::Adam adam(net.parameters(), {.lr = 0.1});
  step(net, adam, td::cpu());
  const auto before = nn::clone(net);
  const auto refused = [&](const std::string& path, td::optim::Optimizer& optimizer) {
    const std::string error = error_of([&] { td::load(path, net, optimizer); });
    EXPECT_EQ(error.find("[load"), 0U) << error;
    EXPECT_NE(error.find(path), std::string::npos) << error;
    EXPECT_TRUE(same_parameters(net, before));
    EXPECT_EQ(adam.param_groups()[0].lr, 0.1);
    EXPECT_EQ(adam.state_dict().at("state.0.step").item<int64_t>(), 1);
    return error;
  };

  // Another model with as many parameters of other sizes.
  nn::Sequential wide(nn::Linear(4, 5), nn::ReLU(), nn::Linear(5, 2));
  td::optim::Adam wide_adam(wide.parameters(), {.lr = 0.7});
  td::save("wide.ckpt", wide, wide_adam);
  EXPECT_NE(refused("wide.ckpt", adam).find("size mismatch for 0.weight"), std::string::npos);
  // Another model with the same sizes under other names.
  nn::Sequential renamed(nn::Linear(4, 3), nn::Linear(3, 2));
  td::optim::Adam renamed_adam(renamed.parameters(), {.lr = 0.7});
  td::save("renamed.ckpt", renamed, renamed_adam);
  EXPECT_NE(refused("renamed.ckpt", adam).find("Missing key(s) in state_dict: \"2.weight\""), std::string::npos);
  // Another kind of optimizer, or none.
  td::save("sgd.ckpt", net, td::optim::SGD(net.parameters()));
  EXPECT_NE(refused("sgd.ckpt", adam).find("has the state of the optimizer SGD, not of Adam"), std::string::npos);
  td::save("model.ckpt", net);
  EXPECT_NE(refused("model.ckpt", adam).find("has no state of an optimizer"), std::string::npos);
  // Damaged, absent.
  td::save("cut.ckpt", net, adam);
  std::filesystem::resize_file("cut.ckpt", std::filesystem::file_size("cut.ckpt") - 1);
  EXPECT_NE(refused("cut.ckpt", adam).find("truncated"), std::string::npos);
  EXPECT_NE(refused("absent.ckpt", adam).find("No such file"), std::string::npos);
}

TEST(Checkpoint, OfNoTrainerIsNoPlaceToGoOnFrom) {
  struct Line : td::train::Module {
    nn::Linear net{1, 1};
    void fields(nn::Fields& f) override { f("net", net); }
    td::Tensor forward(const td::Tensor& x) override { return net(x); }
    td::Tensor loss(const td::Tensor& output, const td::Tensor& target) override { return td::mse_loss(output, target); }
    std::unique_ptr<td::optim::Optimizer> configure_optimizers() override { return td::optim::make<td::optim::SGD>(parameters()); }
  };
  std::filesystem::create_directory("foreign");
  Line model;
  td::save("foreign/checkpoint.safetensors", model, td::optim::SGD(model.parameters()));
  td::train::Trainer trainer({.max_epochs = 1, .checkpoint_dir = "foreign", .resume = true, .quiet = true});
  const td::train::DataModule data(td::data::TensorDataset({td::zeros({4, 1}), td::zeros({4, 1})}));
  EXPECT_NE(error_of([&] { trainer.fit(model, data); }).find("foreign/checkpoint.safetensors: cannot go on from this file"),
            std::string::npos);
  std::ofstream("in_the_way") << "x";
  td::train::Trainer blocked({.max_epochs = 1, .checkpoint_dir = "in_the_way/ckpt", .quiet = true});
  EXPECT_NE(error_of([&] { blocked.fit(model, data); }).find("in_the_way/ckpt"), std::string::npos);
}
