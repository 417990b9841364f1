// env: TANDEM_VIRTUAL_GPUS=2x256MiB
// Modules: plain structs that name their parts.
#include <tandem/tandem.h>

#include <cmath>

#include "check.h"

namespace td = tandem;
namespace nn = td::nn;

// One member function names the parts; there is nothing else to register, and no macro.
struct Net : nn::Module {
  nn::Linear hidden{4, 8};
  td::Tensor running_mean = td::zeros({8});
  nn::Linear output{8, 2};

  void fields(nn::Fields& f) override {
    f("hidden", hidden);
    f.buffer("running_mean", running_mean);
    f("output", output);
  }
  td::Tensor forward(const td::Tensor& x) override { return output(td::relu(hidden(x) - running_mean)); }
};

int main() {
  // The chapter: the model's parameters are on the GPU, and so is what it computes.
  nn::Sequential net(nn::LazyLinear(1));
  net.to(td::try_gpu());
  const auto X = td::ones({2, 3}, td::try_gpu());
  const auto y = net(X);
  CHECK(y.device() == td::gpu(0));
  CHECK(net.at<nn::LazyLinear>(0).weight.device() == td::gpu(0));
  CHECK(shown(y).find("device='cuda:0', grad_fn=<AddmmBackward0>)") != std::string::npos);
  for (const auto& parameter : net.parameters()) CHECK(parameter.is_cuda());
  CHECK_ERROR(net(td::ones({2, 3})), td::Error, "same device");

  // A struct of one's own.
  Net model;
  CHECK(model.parameters().size() == 4);
  CHECK(model.named_parameters().at(0).first == "hidden.weight");
  CHECK(model.state_dict().contains("running_mean"));
  CHECK(model.num_parameters() == 4 * 8 + 8 + 8 * 2 + 2);
  const auto before = model.hidden.weight;
  model.cuda(1);
  CHECK(model.hidden.weight.is_same(before) && before.device() == td::gpu(1));  // moved in place: the optimizer keeps seeing it
  CHECK(model.running_mean.device() == td::gpu(1));
  model.cpu();
  const auto same = model;  // a copy shares its parameters
  CHECK(same.hidden.weight.is_same(model.hidden.weight));
  const auto other = nn::clone(model);  // a clone has its own
  CHECK(!other.hidden.weight.is_same(model.hidden.weight) && td::equal(other.hidden.weight, model.hidden.weight));
  model.eval();
  CHECK(!model.training() && !model.hidden.training());
  CHECK(td::equal(model(td::ones({1, 4})), model(td::ones({1, 4}))));
  CHECK(shown(model).find("(hidden): Linear(in_features=4, out_features=8, bias=True)") != std::string::npos);

  // State: saved, loaded, refused where it does not fit.
  auto state = model.state_dict();
  Net restored;
  restored.load_state_dict(state);
  CHECK(td::equal(restored.output.bias, model.output.bias));
  state["hidden.weight"] = td::zeros({1, 1});
  CHECK_ERROR(restored.load_state_dict(state), td::Error, "size mismatch for hidden.weight");
  state.erase("hidden.weight");
  CHECK_ERROR(restored.load_state_dict(state), td::Error, "Missing key(s) in state_dict: \"hidden.weight\"");

  // Training moves the loss, on each device alike.
  std::vector<double> losses;
  for (auto device : {td::cpu(), td::gpu(0)}) {
    td::manual_seed(1);
    nn::Sequential mlp(nn::Linear(4, 16), nn::Tanh(), nn::Linear(16, 3));
    mlp.to(device);
    td::optim::Adam adam(mlp.parameters(), {.lr = 0.05});
    const auto x = td::randn({64, 4}, device);
    const auto labels = td::argmax(x.slice(1, 0, 3), 1);
    double loss = 0;
    for (int step = 0; step < 60; ++step) {
      adam.zero_grad();
      auto value = td::cross_entropy(mlp(x), labels);
      value.backward();
      nn::utils::clip_grad_norm_(mlp.parameters(), 1.0);
      adam.step();
      loss = value.item<double>();
    }
    losses.push_back(loss);
  }
  CHECK(losses[0] < 0.2);
  CHECK(std::abs(losses[0] - losses[1]) < 1e-3);
  CHECK(nn::Embedding(10, 6)(td::tensor({{1, 2}, {3, 4}})).sizes() == td::Shape{2, 2, 6});
  return finish();
}
