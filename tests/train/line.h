// A model that learns a line, its data, and whether two have the same weights.
#pragma once

#include <memory>
#include <vector>

#include "tandem.h"

namespace tandem::testing {

/// A line with four inputs.
struct Line : train::Module {
  nn::LazyLinear net{1};
  void fields(nn::Fields& f) override { f("net", net); }
  Tensor forward(const Tensor& x) override { return net(x); }
  Tensor loss(const Tensor& output, const Tensor& target) override { return mse_loss(output, target); }
  std::unique_ptr<optim::Optimizer> configure_optimizers() override { return optim::make<optim::Adam>(parameters(), {.lr = 0.05}); }
};

/// Points on a line, with noise; 100 to learn from and 30 to judge by.
inline train::DataModule line_data(train::DataModuleOptions options = {.batch_size = 16}) {
  manual_seed(5);
  const auto x = randn({130, 4});
  const auto y = matmul(x, tensor({{1.f}, {-2.f}, {3.f}, {0.5f}})) + 0.7 + randn({130, 1}) * 0.01;
  const data::TensorDataset all({x, y});
  return {all.subset(0, 100), all.subset(100, 130), options};
}

inline std::vector<Tensor> weights(const train::Module& model) {
  std::vector<Tensor> copies;
  for (const auto& parameter : model.parameters()) copies.push_back(parameter.detach().cpu().clone());
  return copies;
}

inline bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!equal(a[i], b[i])) return false;
  return true;
}

}  // namespace tandem::testing
