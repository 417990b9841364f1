// save and load: a model and its optimizer there and back, across devices; files that do not fit change nothing.
#include "train/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "runtime/expect_error.h"
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

TEST(Checkpoint, OfAModelAloneHasItsOwnNames) {
  const nn::Linear net(3, 2);
  td::save("plain.safetensors", net);
  const auto file = io::read_safetensors("plain.safetensors");
  EXPECT_EQ(file.tensors.size(), 2U);
  EXPECT_TRUE(file.tensors.contains("weight") && file.tensors.contains("bias"));
  EXPECT_TRUE(file.metadata.empty());
  // The state of a module by itself is the same file.
  io::save_safetensors("state.safetensors", net.state_dict(), {{"made_by", "me"}});
  nn::Linear other(3, 2);
  td::load("state.safetensors", other);
  EXPECT_TRUE(td::equal(other.weight, net.weight));
  EXPECT_EQ(io::read_safetensors("state.safetensors").metadata.at("made_by"), "me");
}

TEST(Checkpoint, OfAnotherLibraryHasBareNames) {
  auto net = model_on(td::cpu()), other = model_on(td::cpu());
  const auto state = net.state_dict();
  io::save_safetensors("bare.safetensors", io::TensorMap(state.begin(), state.end()), {{"format", "pt"}});
  td::load("bare.safetensors", other);
  EXPECT_TRUE(same_parameters(net, other));
}

TEST(Checkpoint, OfAnotherLibraryMayBeOfAnyFormat) {
  td::manual_seed(3);
  td::nn::Sequential from(td::nn::Linear(3, 4), td::nn::BatchNorm1d(4));
  const td::StateDict state = from.state_dict();
  const td::io::TensorMap map(state.begin(), state.end());
  using td::io::PlainValue;
  td::StateDict wrapped;
  wrapped.add("module.", state);
  td::io::save_torch("bare.pt", state);
  td::io::save_torch("beside.pt", PlainValue::dict({{"epoch", 3}, {"model", state}, {"optimizer", td::StateDict{{"m", td::ones(1)}}}}));
  td::io::save_torch("wrapped.pt", PlainValue::dict({{"state_dict", wrapped}}));
  td::io::save_npz("bare.npz", map);
  td::io::save_safetensors_shards("shards", map, 64);
  for (const char* path : {"bare.pt", "beside.pt", "wrapped.pt", "bare.npz", "shards", "shards/model.safetensors.index.json"}) {
    SCOPED_TRACE(path);
    td::nn::Sequential to(td::nn::Linear(3, 4), td::nn::BatchNorm1d(4));
    td::load(path, to);
    for (const auto& [name, tensor] : to.state_dict()) EXPECT_TRUE(tensor.equal(state.at(name))) << name;
  }
  // Two parts that would fit: neither is chosen.
  td::io::save_torch("two.pt", PlainValue::dict({{"model", state}, {"average", state}}));
  td::nn::Sequential to(td::nn::Linear(3, 4), td::nn::BatchNorm1d(4));
  EXPECT_ERROR(td::load("two.pt", to), td::Error, "average.0.weight");
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

namespace {

/// The same names with the same numbers in the very same memory.
void expect_untouched(const td::StateDict& now, const td::StateDict& before) {
  EXPECT_EQ(now.keys(), before.keys());
  for (const auto& [name, tensor] : before) {
    const td::Tensor* here = now.find(name);
    ASSERT_TRUE(here) << name;
    EXPECT_TRUE(td::equal(*here, tensor)) << name;
    EXPECT_EQ(here->data_ptr() == tensor.data_ptr(), name.starts_with("state.") && tensor.dim() > 0) << name;
  }
}

}  // namespace

TEST(OptimizerState, ThatIsRefusedHalfwayChangesNothing) {
  auto net = model_on(td::cpu());
  td::optim::Adam adam(net.parameters(), {.lr = 0.1});
  step(net, adam, td::cpu());
  td::optim::LBFGS lbfgs(net.parameters(), {.lr = 0.1, .max_iter = 5});
  const auto closure = [&] {
    lbfgs.zero_grad();
    const td::Tensor loss = td::cross_entropy(net(td::arange(8.).reshape({2, 4})), td::tensor({0, 1}));
    loss.backward();
    return loss;
  };
  lbfgs.step(closure);
  for (td::optim::Optimizer* optimizer : {static_cast<td::optim::Optimizer*>(&adam), static_cast<td::optim::Optimizer*>(&lbfgs)}) {
    const td::StateDict before = optimizer->state_dict();
    td::StateDict other;
    for (const auto& [name, tensor] : before) other[name] = tensor.is_floating_point() ? tensor + 1 : tensor.clone();
    ASSERT_EQ(error_of([&] { optimizer->load_state_dict(before); }), "no error");
    const td::StateDict loaded = optimizer->state_dict();
    // Each option in turn is no single number: what came before it has been read by then.
    int refused = 0;
    for (const auto& [name, tensor] : before) {
      if (!name.starts_with("param_groups.0.") || name.ends_with(".params")) continue;
      td::StateDict bad = other;
      bad[name] = td::zeros({0});
      const std::string error = error_of([&] { optimizer->load_state_dict(bad); });
      refused += error != "no error";
      expect_untouched(optimizer->state_dict(), loaded);
    }
    EXPECT_GE(refused, 5);
  }
}

/// y = ax + b.
struct Line : td::train::Module {
  nn::Linear net{1, 1};
  void fields(nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x); }
  td::Tensor loss(const td::Tensor& output, const td::Tensor& target) override { return td::mse_loss(output, target); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override { return td::optim::make<td::optim::SGD>(parameters()); }
};

TEST(TrainerCheckpoint, ThatIsRefusedHalfwayChangesNothing) {
  const td::train::DataModule data(td::data::TensorDataset({td::ones({4, 1}), td::zeros({4, 1})}),
                                   td::data::TensorDataset({td::ones({4, 1}), td::zeros({4, 1})}), {.batch_size = 2});
  const std::string path = "halfway/checkpoint.safetensors";
  Line taught;
  td::train::Trainer first(
      {.max_epochs = 1, .checkpoint_dir = "halfway", .early_stopping = td::train::EarlyStoppingOptions{}, .quiet = true});
  first.fit(taught, data);
  const io::SafetensorsFile file = io::read_safetensors(path);
  const std::string notes = file.metadata.at("trainer");
  const auto replaced = [&](const std::string& what, const std::string& by) {
    const auto at = notes.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return notes.substr(0, at) + by + notes.substr(at + what.size());
  };
  const std::string callback =
      notes.substr(notes.find("\"callbacks\":[["), notes.find("]]", notes.find("\"callbacks\":[[")) + 2 - notes.find("\"callbacks\":[["));
  const std::string type = callback.substr(callback.find("[[\"") + 3, callback.find("\",") - callback.find("[[\"") - 3);
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  for (const std::string& bad :
       {std::string("{"), deep, replaced("\"curves\":", "\"curbs\":"), replaced("\"epoch\":1", "\"epoch\":-1"),
        replaced("\"step\":", "\"step\":-"), replaced("\"epoch\":1", "\"epoch\":1e300"), replaced("\"epoch\":1", "\"epoch\":4294967297"),
        replaced("\"batch\":0", "\"batch\":3,\"more\":0"), replaced("\"epoch\":1", "\"epoch\":" + deep),
        replaced(callback, "\"callbacks\":[[\"" + type + "\",\"0.5 many\"]]"),
        replaced(callback, "\"callbacks\":[[\"" + type + "\",\"0.5 1e300\"]]")}) {
    auto metadata = file.metadata;
    metadata["trainer"] = bad;
    io::save_safetensors(path, file.tensors, metadata);
    Line model;
    const td::Tensor before = model.net.weight.detach().clone();
    ASSERT_FALSE(td::equal(before, taught.net.weight));
    const auto watcher = std::make_shared<td::train::EarlyStopping>();
    const std::string watched = watcher->state();
    td::train::Trainer trainer({.max_epochs = 2, .checkpoint_dir = "halfway", .resume = true, .callbacks = {watcher}, .quiet = true});
    const std::string error = error_of([&] { trainer.fit(model, data); });
    EXPECT_NE(error.find("damaged"), std::string::npos) << error << " for " << bad.substr(0, 200);
    EXPECT_TRUE(td::equal(model.net.weight, before));
    EXPECT_EQ(watcher->state(), watched);
    EXPECT_EQ(trainer.epoch(), 0);
  }
  // A model that does not fit: the callback, which was read before, has its own state again.
  auto tensors = file.tensors;
  tensors.erase("model.net.bias");
  io::save_safetensors(path, tensors, file.metadata);
  Line model;
  const td::Tensor before = model.net.weight.detach().clone();
  const auto watcher = std::make_shared<td::train::EarlyStopping>();
  const std::string watched = watcher->state();
  td::train::Trainer trainer({.max_epochs = 2, .checkpoint_dir = "halfway", .resume = true, .callbacks = {watcher}, .quiet = true});
  EXPECT_NE(error_of([&] { trainer.fit(model, data); }).find("Missing key(s)"), std::string::npos);
  EXPECT_TRUE(td::equal(model.net.weight, before));
  EXPECT_EQ(watcher->state(), watched);
}

TEST(Checkpoint, OfNoTrainerIsNoPlaceToGoOnFrom) {
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
