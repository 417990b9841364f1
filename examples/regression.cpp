// A polynomial of degree 4 is learned from points on it. As PyTorch's C++ example "regression".
#include <tandem/tandem.h>

#include <iostream>

namespace td = tandem;

constexpr int64_t kDegree = 4;

/// The powers of x: (n) to (n, kDegree), the columns x, x², x³, x⁴.
td::Tensor features(const td::Tensor& x) {
  std::vector<td::Tensor> powers;
  for (int64_t i = 1; i <= kDegree; ++i) powers.push_back(td::pow(x, i));
  return td::stack(powers, 1);
}

std::string polynomial(const td::Tensor& weights, double bias) {
  std::string text = "y = ";
  for (int64_t i = 0; i < kDegree; ++i) text += td::str(weights[i].item<double>(), " x^", i + 1, " + ");
  return text + td::str(bias);
}

int main() {
  td::manual_seed(0);
  const auto target_weights = td::randn({kDegree, 1}) * 5;
  const auto target_bias = td::randn({1}) * 5;

  td::nn::Linear model(kDegree, 1);
  td::optim::SGD sgd(model.parameters(), {.lr = 0.1});
  double loss = 1;
  int64_t batches = 0;
  while (loss > 1e-3) {
    const auto x = features(td::randn({32}));
    const auto y = td::matmul(x, target_weights) + target_bias;
    sgd.zero_grad();
    const auto difference = td::smooth_l1_loss(model(x), y);
    loss = difference.item<double>();
    difference.backward();
    sgd.step();
    ++batches;
  }
  std::cout << "loss " << loss << " after " << batches << " batches\n"
            << "learned: " << polynomial(model.weight.detach().view({-1}), model.bias.item<double>()) << "\n"
            << "actual:  " << polynomial(target_weights.view({-1}), target_bias.item<double>()) << "\n";
}
