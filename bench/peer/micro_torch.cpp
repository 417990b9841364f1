// The peer's side of the micro benchmark: the cases of bench/micro.cpp, name by name, written for libtorch.
// bench/micro.py compiles it against the wheel's headers; it is no part of tandem's build.
// Usage: micro_torch [--threads N] [--ms MILLISECONDS] [--only NAME]…; prints JSON.
#include <torch/torch.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>

#include "bench/measure.h"

using tandem::bench::measure;
using tandem::bench::Measured;

namespace {

struct Case {
  const char* name;
  std::function<Measured(const char* name, double ms)> run;
};

Measured mlp_step(const char* name, double ms, int64_t batch) {
  torch::manual_seed(0);
  torch::nn::Sequential net(torch::nn::Linear(784, 256), torch::nn::ReLU(), torch::nn::Linear(256, 128), torch::nn::ReLU(),
                            torch::nn::Linear(128, 10));
  // So small a rate that thousands of steps on one batch leave every number in its normal range: subnormals would be what is measured.
  torch::optim::Adam adam(net->parameters(), torch::optim::AdamOptions(1e-6));
  const auto x = torch::randn({batch, 784});
  const auto labels = torch::randint(0, 10, {batch}, torch::kInt64);
  return measure(name, ms, [&] {
    adam.zero_grad();
    torch::nn::functional::cross_entropy(net->forward(x), labels).backward();
    adam.step();
  });
}

Measured product(const char* name, double ms, int64_t n) {
  const auto a = torch::randn({n, n}), b = torch::randn({n, n});
  return measure(name, ms, [&] { auto c = torch::matmul(a, b); });
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"empty", [](const char* name, double ms) { return measure(name, ms, [] { auto x = torch::empty({1}); }); }},
      {"add",
       [](const char* name, double ms) {
         const auto x = torch::ones({1}), y = torch::ones({1});
         return measure(name, ms, [&] { auto z = x + y; });
       }},
      {"add_backward",
       [](const char* name, double ms) {
         const auto x = torch::ones({1}, torch::requires_grad()), y = torch::ones({1});
         return measure(name, ms, [&] {
           auto z = x + y;
           z.backward();
           x.mutable_grad() = torch::Tensor();
         });
       }},
      {"ten_mul_backward",
       [](const char* name, double ms) {
         const auto x = torch::ones({1}, torch::requires_grad());
         return measure(name, ms, [&] {
           auto y = x;
           for (int i = 0; i < 10; ++i) y = y * 1.01;
           y.sum().backward();
           x.mutable_grad() = torch::Tensor();
         });
       }},
      {"linear_regression",
       [](const char* name, double ms) {
         torch::manual_seed(0);
         const auto X = torch::randn({32, 2}), y = torch::randn({32, 1});
         torch::nn::Linear net(2, 1);
         torch::optim::SGD sgd(net->parameters(), torch::optim::SGDOptions(0.03));
         return measure(name, ms, [&] {
           sgd.zero_grad();
           torch::mse_loss(net->forward(X), y).backward();
           sgd.step();
         });
       }},
      {"mlp_128", [](const char* name, double ms) { return mlp_step(name, ms, 128); }},
      {"mlp_8", [](const char* name, double ms) { return mlp_step(name, ms, 8); }},
      {"matmul_256", [](const char* name, double ms) { return product(name, ms, 256); }},
      {"matmul_1024", [](const char* name, double ms) { return product(name, ms, 1024); }},
      {"add_10m",
       [](const char* name, double ms) {
         const auto x = torch::randn({10'000'000}), y = torch::randn({10'000'000});
         return measure(name, ms, [&] { auto z = x + y; });
       }},
      {"exp_1m",
       [](const char* name, double ms) {
         const auto x = torch::randn({1'000'000});
         return measure(name, ms, [&] { auto z = torch::exp(x); });
       }},
      {"tanh_1m",
       [](const char* name, double ms) {
         const auto x = torch::randn({1'000'000});
         return measure(name, ms, [&] { auto z = torch::tanh(x); });
       }},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  double ms = 200;
  std::vector<std::string> only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--threads")) torch::set_num_threads(std::atoi(argv[i + 1]));
    if (!std::strcmp(argv[i], "--ms")) ms = std::atof(argv[i + 1]);
    if (!std::strcmp(argv[i], "--only")) only.emplace_back(argv[i + 1]);
  }
  std::vector<Measured> results;
  for (const Case& c : cases())
    if (only.empty() || std::find(only.begin(), only.end(), c.name) != only.end()) results.push_back(c.run(c.name, ms));
  std::cout << tandem::bench::to_json("libtorch " TORCH_VERSION, torch::get_num_threads(), results);
}
