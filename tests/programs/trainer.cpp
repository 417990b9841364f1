// env: TANDEM_VIRTUAL_GPUS=2x256MiB
// The chapter's Trainer: a model, its data, max_epochs, num_gpus.
#include <tandem/tandem.h>

#include <filesystem>

#include "check.h"

namespace td = tandem;
namespace train = td::train;

struct LinearRegression : train::Module {
  td::nn::LazyLinear net{1};
  void fields(td::nn::Fields& f) override { f("net", net); }
  td::Tensor forward(const td::Tensor& x) override { return net(x); }
  td::Tensor loss(const td::Tensor& output, const td::Tensor& target) override { return td::mse_loss(output, target); }
  std::unique_ptr<td::optim::Optimizer> configure_optimizers() override {
    return td::optim::make<td::optim::SGD>(parameters(), {.lr = 0.03});
  }
};

int main() {
  td::manual_seed(0);
  const auto w = td::tensor({{2.f}, {-3.4f}});
  const auto X = td::randn({2000, 2});
  const auto y = td::matmul(X, w) + 4.2 + td::randn({2000, 1}) * 0.01;
  td::data::TensorDataset all({X, y});
  train::DataModule data(all.subset(0, 1000), all.subset(1000, 2000), {.batch_size = 32});
  CHECK(data.train_dataloader().size() == 32);  // 31 full batches and one of 8

  LinearRegression model;
  train::Trainer trainer({.max_epochs = 3, .num_gpus = 1, .gradient_clip_val = 5.0, .quiet = true});
  trainer.fit(model, data);
  CHECK(model.net.weight.device() == td::gpu(0));
  CHECK(td::allclose(model.net.weight.cpu(), w.t(), 0.05, 0.05));
  const auto& history = trainer.board().series();
  CHECK(history.contains("train_loss") && history.at("train_loss").size() == 6);  // two points an epoch
  CHECK(history.contains("val_loss") && history.at("val_loss").size() == 3);
  CHECK(history.at("val_loss").back().y < 0.01);

  // Interrupted and resumed equals never interrupted, to the bit.
  const auto run = [&](int first, int then) {
    td::manual_seed(1);
    LinearRegression m;
    train::Trainer t({.max_epochs = first, .num_gpus = 1, .checkpoint_dir = "ckpt", .quiet = true});
    t.fit(m, data);
    if (!then) return m.net.weight.cpu();
    LinearRegression again;
    train::Trainer rest({.max_epochs = then, .num_gpus = 1, .checkpoint_dir = "ckpt", .resume = true, .quiet = true});
    rest.fit(again, data);
    return again.net.weight.cpu();
  };
  const auto whole = run(4, 0);
  std::filesystem::remove_all("ckpt");
  CHECK(td::equal(run(2, 4), whole));

  // Two GPUs give the one-GPU result.
  LinearRegression two;
  train::Trainer pair({.max_epochs = 3, .num_gpus = 2, .quiet = true});
  pair.fit(two, data);
  CHECK(td::allclose(two.net.weight.cpu(), w.t(), 0.05, 0.05));
  return finish();
}
