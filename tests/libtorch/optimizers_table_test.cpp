// libtorch's optimizers, option by option against tandem's core over several steps.
#include "libtorch/optim.h"
#include "libtorch/table.h"
#include "optim/optim.h"

namespace {

using tandem::Tensor;
namespace optim = torch::optim;

class OptimizersTable : public TableOn {
 protected:
  void SetUp() override {
    TableOn::SetUp();
    start = normal({4, 3});
    goal = normal({4, 3});
  }
  /// Where five steps of the optimizer that `make` gives lead. The gradients depend on the place and are of all sizes.
  template <class Make>
  [[nodiscard]] Tensor after_steps(Make&& make) const {
    const Tensor p = start.clone().requires_grad_();
    auto optimizer = make(p);
    const auto loss = [&] {
      optimizer.zero_grad();
      const Tensor value = ((p - goal).pow(2) * (p * p + 0.1)).sum();
      value.backward();
      return value;
    };
    for (int i = 0; i < 5; ++i) (void)optimizer.step(loss);
    return p.detach();
  }
  template <class Optimizer, class Options>
  [[nodiscard]] std::vector<Tensor> steps(const Options& options) const {
    return {after_steps([&](const Tensor& p) { return Optimizer(std::vector<Tensor>{p}, options); })};
  }
  template <class Optimizer>
  [[nodiscard]] Tensor own(const typename Optimizer::Options& options) const {
    return after_steps([&](const Tensor& p) { return Optimizer(std::vector<Tensor>{p}, options); });
  }

  Tensor start, goal;
};
INSTANTIATE_TEST_SUITE_P(Devices, OptimizersTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(OptimizersTable, StochasticDescent) {
  using SGD = optim::SGDOptions;
  const auto sgd = [&](const SGD& options) { return steps<optim::SGD>(options); };
  const auto core = [&](const tandem::optim::SGDOptions& options) { return own<tandem::optim::SGD>(options); };
  const Tensor usual = core({.lr = 0.01}), moving = core({.lr = 0.01, .momentum = 0.9});
  expect_rows({
      {"SGD", sgd(0.01), usual},
      {"SGD lr", sgd(SGD(0.01).lr(0.02)), core({.lr = 0.02}), usual},
      {"SGD momentum", sgd(SGD(0.01).momentum(0.9)), moving, usual},
      {"SGD dampening", sgd(SGD(0.01).momentum(0.9).dampening(0.4)), core({.lr = 0.01, .momentum = 0.9, .dampening = 0.4}), moving},
      {"SGD weight_decay", sgd(SGD(0.01).weight_decay(0.5)), core({.lr = 0.01, .weight_decay = 0.5}), usual},
      {"SGD nesterov", sgd(SGD(0.01).momentum(0.9).nesterov(true)), core({.lr = 0.01, .momentum = 0.9, .nesterov = true}), moving},
  });
}

TEST_P(OptimizersTable, Adaptive) {
  using Adam = optim::AdamOptions;
  using AdamW = optim::AdamWOptions;
  const auto adam = [&](const Adam& options) { return steps<optim::Adam>(options); };
  const auto adamw = [&](const AdamW& options) { return steps<optim::AdamW>(options); };
  const auto core = [&](const tandem::optim::AdamOptions& options) { return own<tandem::optim::Adam>(options); };
  const auto corew = [&](const tandem::optim::AdamWOptions& options) { return own<tandem::optim::AdamW>(options); };
  const Tensor usual = core({.lr = 0.3}), usualw = corew({.lr = 0.3});
  expect_rows({
      {"Adam", adam({}), core({}), usual},
      {"Adam lr", adam(Adam().lr(0.3)), usual, core({})},
      {"Adam betas", adam(Adam(0.3).betas({0.5, 0.8})), core({.lr = 0.3, .betas = {0.5, 0.8}}), usual},
      {"Adam eps", adam(Adam(0.3).eps(0.7)), core({.lr = 0.3, .eps = 0.7}), usual},
      {"Adam weight_decay", adam(Adam(0.3).weight_decay(0.5)), core({.lr = 0.3, .weight_decay = 0.5}), usual},
      {"Adam amsgrad", adam(Adam(0.3).betas({0.5, 0.1}).amsgrad(true)), core({.lr = 0.3, .betas = {0.5, 0.1}, .amsgrad = true}),
       core({.lr = 0.3, .betas = {0.5, 0.1}})},
      {"AdamW", adamw({}), corew({}), usualw},
      {"AdamW lr", adamw(AdamW().lr(0.3)), usualw, corew({})},
      {"AdamW betas", adamw(AdamW(0.3).betas({0.5, 0.8})), corew({.lr = 0.3, .betas = {0.5, 0.8}}), usualw},
      {"AdamW eps", adamw(AdamW(0.3).eps(0.7)), corew({.lr = 0.3, .eps = 0.7}), usualw},
      {"AdamW weight_decay", adamw(AdamW(0.3).weight_decay(0.5)), corew({.lr = 0.3, .weight_decay = 0.5}), usualw},
      {"AdamW amsgrad", adamw(AdamW(0.3).betas({0.5, 0.1}).amsgrad(true)), corew({.lr = 0.3, .betas = {0.5, 0.1}, .amsgrad = true}),
       corew({.lr = 0.3, .betas = {0.5, 0.1}})},
  });
}

TEST_P(OptimizersTable, SumsAndMeansOfSquares) {
  using Adagrad = optim::AdagradOptions;
  using RMSprop = optim::RMSpropOptions;
  const auto adagrad = [&](const Adagrad& options) { return steps<optim::Adagrad>(options); };
  const auto rmsprop = [&](const RMSprop& options) { return steps<optim::RMSprop>(options); };
  const auto sums = [&](const tandem::optim::AdagradOptions& options) { return own<tandem::optim::Adagrad>(options); };
  const auto means = [&](const tandem::optim::RMSpropOptions& options) { return own<tandem::optim::RMSprop>(options); };
  expect_rows({
      {"Adagrad", adagrad({}), sums({})},
      {"Adagrad lr", adagrad(Adagrad().lr(0.3)), sums({.lr = 0.3}), sums({})},
      {"Adagrad lr_decay", adagrad(Adagrad().lr_decay(0.3)), sums({.lr_decay = 0.3}), sums({})},
      {"Adagrad weight_decay", adagrad(Adagrad().weight_decay(2)), sums({.weight_decay = 2}), sums({})},
      {"Adagrad initial_accumulator_value", adagrad(Adagrad().initial_accumulator_value(0.5)), sums({.initial_accumulator_value = 0.5}),
       sums({})},
      {"Adagrad eps", adagrad(Adagrad().eps(0.5)), sums({.eps = 0.5}), sums({})},
      {"RMSprop", rmsprop({}), means({})},
      {"RMSprop lr", rmsprop(RMSprop().lr(0.3)), means({.lr = 0.3}), means({})},
      {"RMSprop alpha", rmsprop(RMSprop().alpha(0.4)), means({.alpha = 0.4}), means({})},
      {"RMSprop eps", rmsprop(RMSprop().eps(0.5)), means({.eps = 0.5}), means({})},
      {"RMSprop weight_decay", rmsprop(RMSprop().weight_decay(2)), means({.weight_decay = 2}), means({})},
      {"RMSprop momentum", rmsprop(RMSprop().momentum(0.5)), means({.momentum = 0.5}), means({})},
      {"RMSprop centered", rmsprop(RMSprop().centered(true)), means({.centered = true}), means({})},
  });
}

TEST_P(OptimizersTable, QuasiNewton) {
  using LBFGS = optim::LBFGSOptions;
  const auto lbfgs = [&](const LBFGS& options) { return steps<optim::LBFGS>(options); };
  const auto core = [&](const tandem::optim::LBFGSOptions& options) { return own<tandem::optim::LBFGS>(options); };
  const auto few = [] { return LBFGS(0.05).max_iter(3); };
  const Tensor usual = core({.lr = 0.05, .max_iter = 3});
  expect_rows({
      {"LBFGS max_iter", lbfgs(few()), usual, core({.lr = 0.05})},
      {"LBFGS lr", lbfgs(few().lr(0.01)), core({.lr = 0.01, .max_iter = 3}), usual},
      {"LBFGS max_eval", lbfgs(few().max_eval(2)), core({.lr = 0.05, .max_iter = 3, .max_eval = 2}), usual},
      {"LBFGS tolerance_grad", lbfgs(few().tolerance_grad(1000)), core({.lr = 0.05, .max_iter = 3, .tolerance_grad = 1000}), usual},
      {"LBFGS tolerance_change", lbfgs(few().tolerance_change(0.1)), core({.lr = 0.05, .max_iter = 3, .tolerance_change = 0.1}), usual},
      {"LBFGS history_size", lbfgs(few().history_size(1)), core({.lr = 0.05, .max_iter = 3, .history_size = 1}), usual},
      {"LBFGS line_search_fn", lbfgs(few().line_search_fn("strong_wolfe")),
       core({.lr = 0.05, .max_iter = 3, .line_search_fn = "strong_wolfe"}), usual},
  });
}

}  // namespace
