// SGD, Adam and AdamW against plain loops in double precision; their groups, state and errors.
#include <cmath>
#include <map>
#include <string>

#include "nn/support.h"

namespace tandem::testing {
namespace {

// Two parameters of f(p) = sum(c * p^2 / 2 + s * sin(p)), so that gradients are c * p + s * cos(p).
struct Problem {
  std::vector<Tensor> params;
  std::vector<std::vector<double>> expected;
  explicit Problem(Device device, DType dtype = kFloat32) {
    for (const Tensor& start : {tensor({{0.5, -1.5, 2.0}, {0.1, 1.0, -0.7}}), tensor({1.25})}) {
      const Tensor p = start.to(device, dtype).detach().requires_grad_();
      params.push_back(p);
      expected.push_back(values(p));
    }
  }
  static double gradient(double p) { return 0.7 * p + 0.3 * std::cos(p); }
  void backward() const {
    for (const Tensor& p : params) (p * p * 0.35 + sin(p) * 0.3).sum().backward();
  }
  void check(double tolerance = 2e-6) const {
    for (size_t i = 0; i < params.size(); ++i) expect_near(params[i], expected[i], tolerance);
  }
};

class OptimOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, OptimOn, every_device(), device_name);

/// Through the base, as a program takes steps that doesn't know its optimizer.
TEST_P(OptimOn, AStepWithAClosure) {
  const Tensor p = full({2}, 1.0, device()).requires_grad_();
  optim::SGD sgd({p}, 0.5);  // a rate alone
  optim::Adam adam({p}, 0.1F);
  EXPECT_EQ(adam.param_groups()[0].lr, double{0.1F});
  optim::Optimizer& any = sgd;
  const NoGradGuard unrecorded;
  const Tensor loss = any.step([&] {
    any.zero_grad();
    Tensor sum = (p * p).sum();
    sum.backward();
    return sum;
  });
  EXPECT_EQ(loss.item<float>(), 2);
  EXPECT_EQ(p[0].item<float>(), 0);
  EXPECT_EQ(optim::LBFGS({p}, 0.25).param_groups()[0].lr, 0.25);
}

void check_sgd(Device device, const optim::SGDOptions& o, DType dtype = kFloat32) {
  Problem problem(device, dtype);
  optim::SGD sgd(problem.params, o);
  std::vector<std::vector<double>> velocity(2);
  for (int step = 0; step < 5; ++step) {
    sgd.zero_grad();
    problem.backward();
    sgd.step();
    for (size_t i = 0; i < 2; ++i) {
      velocity[i].resize(problem.expected[i].size());
      for (size_t k = 0; k < velocity[i].size(); ++k) {
        double& p = problem.expected[i][k];
        double g = Problem::gradient(p);
        if (o.maximize) g = -g;
        g += o.weight_decay * p;
        if (o.momentum != 0) {
          double& v = velocity[i][k];
          v = step == 0 ? g : o.momentum * v + (1 - o.dampening) * g;
          g = o.nesterov ? g + o.momentum * v : v;
        }
        p -= o.lr * g;
      }
    }
  }
  problem.check();
}

TEST_P(OptimOn, Sgd) {
  check_sgd(device(), {.lr = 0.1});
  check_sgd(device(), {.lr = 0.1, .momentum = 0.9});
  check_sgd(device(), {.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01});
  check_sgd(device(), {.lr = 0.1, .momentum = 0.9, .nesterov = true});
  check_sgd(device(), {.lr = 0.1, .weight_decay = 0.1, .maximize = true});
  check_sgd(device(), {.lr = 0.1, .momentum = 0.9}, kFloat64);
}

template <class Optimizer>
void check_adam(Device device, const typename Optimizer::Options& o, DType dtype = kFloat32) {
  Problem problem(device, dtype);
  Optimizer adam(problem.params, o);
  std::vector<std::vector<double>> mean(2), square(2), largest(2);
  for (int step = 1; step <= 5; ++step) {
    adam.zero_grad();
    problem.backward();
    adam.step();
    for (size_t i = 0; i < 2; ++i) {
      for (auto* state : {&mean[i], &square[i], &largest[i]}) state->resize(problem.expected[i].size());
      for (size_t k = 0; k < mean[i].size(); ++k) {
        double& p = problem.expected[i][k];
        double g = Problem::gradient(p);
        if (o.maximize) g = -g;
        if (std::is_same_v<Optimizer, optim::AdamW>) p *= 1 - o.lr * o.weight_decay;
        else g += o.weight_decay * p;
        mean[i][k] = o.betas.first * mean[i][k] + (1 - o.betas.first) * g;
        square[i][k] = o.betas.second * square[i][k] + (1 - o.betas.second) * g * g;
        largest[i][k] = std::max(largest[i][k], square[i][k]);
        const double v = o.amsgrad ? largest[i][k] : square[i][k];
        p -= o.lr / (1 - std::pow(o.betas.first, step)) * mean[i][k] /
             (std::sqrt(v) / std::sqrt(1 - std::pow(o.betas.second, step)) + o.eps);
      }
    }
  }
  problem.check();
}

TEST_P(OptimOn, Adam) {
  check_adam<optim::Adam>(device(), {.lr = 0.05});
  check_adam<optim::Adam>(device(), {.lr = 0.05, .betas = {0.5, 0.9}, .eps = 1e-3, .weight_decay = 0.1});
  check_adam<optim::Adam>(device(), {.lr = 0.05, .betas = {0.5, 0.6}, .amsgrad = true});
  check_adam<optim::Adam>(device(), {.lr = 0.05, .maximize = true});
  check_adam<optim::Adam>(device(), {.lr = 0.05}, kFloat64);
}

TEST_P(OptimOn, AdamW) {
  check_adam<optim::AdamW>(device(), {.lr = 0.05});
  check_adam<optim::AdamW>(device(), {.lr = 0.05, .weight_decay = 0.3, .amsgrad = true});
}

TEST_P(OptimOn, PassesOverWhatHasNoGradient) {
  Problem problem(device());
  optim::Adam adam(problem.params, {.lr = 0.1});
  problem.params[0].set_grad(ones_like(problem.params[0]));
  adam.step();
  expect_near(problem.params[1], {1.25});
  EXPECT_NEAR(values(problem.params[0])[0], 0.4, 1e-5);
  EXPECT_FALSE(adam.state_dict().contains("state.1.exp_avg"));
}

TEST_P(OptimOn, TakesStridedParametersAndGradients) {
  const Tensor base = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}).to(device());
  const Tensor parameter = base.t().detach().requires_grad_();
  parameter.set_grad(tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}).to(device()).t());
  optim::SGD sgd({parameter}, {.lr = 1, .momentum = 0.5});
  sgd.step();
  expect_near(base, {0, 0, 0, 0, 0, 0});
  sgd.step();
  expect_near(base, {-1.5, -3, -4.5, -6, -7.5, -9});
}

TEST(Optim, ParametersOnSeveralDevices) {
  Problem here(cpu()), there(gpu(1));
  optim::SGD sgd({here.params[0], there.params[0], here.params[1], there.params[1]}, {.lr = 0.1, .momentum = 0.9});
  for (int step = 0; step < 3; ++step) {
    sgd.zero_grad();
    here.backward();
    there.backward();
    sgd.step();
  }
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(allclose(here.params[i], there.params[i].cpu(), 1e-6, 1e-6));
  EXPECT_NE(values(here.params[1])[0], 1.25);
}

TEST_P(OptimOn, StateFollowsTheModule) {
  nn::Linear stays(3, 2);
  nn::Linear moves = nn::clone(stays);
  optim::Adam a(stays.parameters(), {.lr = 0.1}), b(moves.parameters(), {.lr = 0.1});
  for (int step = 0; step < 4; ++step) {
    if (step == 2) moves.to(device());
    const Tensor x = ones({2, 3}) * (step + 1);
    a.zero_grad();
    b.zero_grad();
    stays(x).pow(2).sum().backward();
    moves(x.to(moves.weight.device())).pow(2).sum().backward();
    a.step();
    b.step();
  }
  EXPECT_TRUE(allclose(stays.weight, moves.weight.cpu(), 1e-5, 1e-5));
}

TEST_P(OptimOn, GroupsHaveOptionsOfTheirOwn) {
  Problem problem(device());
  optim::SGD sgd({problem.params[0]}, {.lr = 1});
  sgd.add_param_group({problem.params[1]}, {.lr = 0.5});
  for (const Tensor& p : problem.params) p.set_grad(ones_like(p));
  sgd.step();
  expect_near(problem.params[0], {-0.5, -2.5, 1.0, -0.9, 0.0, -1.7});
  expect_near(problem.params[1], {0.75});
  optim::Optimizer& any = sgd;
  any.param_groups()[1].lr = 0.25;
  EXPECT_EQ(sgd.param_groups()[1].lr, 0.25);
  EXPECT_EQ(any.param_groups()[0].params.size(), 1u);
}

TEST_P(OptimOn, StateComesBackOnAnotherDevice) {
  Problem first(cpu());
  optim::Adam adam(first.params, {.lr = 0.1, .betas = {0.8, 0.9}, .amsgrad = true});
  for (int step = 0; step < 2; ++step) {
    adam.zero_grad();
    first.backward();
    adam.step();
  }
  const StateDict saved = adam.state_dict();
  EXPECT_EQ(saved.at("state.0.step").item<int64_t>(), 2);
  EXPECT_EQ(saved.at("param_groups.0.params").numel(), 2);

  std::vector<Tensor> params;
  for (const Tensor& p : first.params) params.push_back(p.detach().clone().to(device()).requires_grad_());
  optim::Adam resumed(params, {.lr = 0.5});
  resumed.load_state_dict(saved);
  EXPECT_EQ(resumed.param_groups()[0].lr, 0.1);
  EXPECT_EQ(resumed.param_groups()[0].betas, (std::pair{0.8, 0.9}));
  EXPECT_TRUE(resumed.param_groups()[0].amsgrad);
  EXPECT_EQ(resumed.state_dict().at("state.1.exp_avg_sq").device(), device());
  first.backward();
  for (size_t i = 0; i < 2; ++i) params[i].set_grad(first.params[i].grad().to(device()).clone());
  adam.step();
  resumed.step();
  for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(allclose(first.params[i], params[i].cpu(), 1e-6, 1e-7));
}

TEST(Optim, StateThatDoesNotFitIsRefused) {
  Problem problem(cpu());
  optim::SGD sgd(problem.params, {.lr = 0.1, .momentum = 0.9});
  problem.backward();
  sgd.step();
  optim::SGD one({problem.params[0]}, {.lr = 1});
  EXPECT_EQ(error_of([&] { one.load_state_dict(sgd.state_dict()); }),
            "[SGD.load_state_dict] loaded state dict contains a parameter group that doesn't match the size of optimizer's group: 2 "
            "parameters in group 0, not 1");
  optim::SGD turned({problem.params[1], problem.params[0]}, {.lr = 1});
  EXPECT_EQ(error_of([&] { turned.load_state_dict(sgd.state_dict()); }),
            "[SGD.load_state_dict] state.0.momentum_buffer has size [2, 3], but its parameter here has [1]");
  EXPECT_EQ(turned.param_groups()[0].lr, 1);
  optim::SGD two({problem.params[0]});
  two.add_param_group({problem.params[1]});
  EXPECT_NE(error_of([&] { one.load_state_dict(two.state_dict()); }).find("different number of parameter groups"), std::string::npos);
}

TEST(Optim, RefusesWhatMakesNoSense) {
  const Tensor p = ones({2}, {.requires_grad = true});
  EXPECT_EQ(error_of([] { optim::SGD sgd({}); }),
            "[SGD] optimizer got an empty parameter list; a module's parameters are those that its fields() names: f(\"fc1\", fc1)");
  EXPECT_EQ(error_of([&] { optim::Adam adam({p * 2}); }),
            "[Adam] can't optimize a non-leaf Tensor (grad_fn=MulBackward0): give it what the result is computed from, or detach() it");
  EXPECT_EQ(error_of([&] {
              optim::SGD sgd({p, p});
            }),
            "[SGD] some parameters appear in more than one place of the parameter groups: give each once");
  EXPECT_EQ(error_of([&] { optim::SGD sgd({p}, {.lr = -1}); }), "[SGD] Invalid learning rate: -1: give a number from 0 on");
  EXPECT_EQ(
      error_of([&] { optim::SGD sgd({p}, {.nesterov = true}); }),
      "[SGD] Nesterov momentum requires a momentum and zero dampening, but they are 0 and 0: set .momentum = 0.9, or leave nesterov out");
  EXPECT_EQ(error_of([&] {
              optim::AdamW adam({p}, {.betas = {1.0, 0.9}});
            }),
            "[AdamW] Invalid beta parameter at index 0: 1: give a number from 0 on and below 1, such as 0.9");
  EXPECT_NE(error_of([&] { optim::SGD sgd({Tensor()}); }).find("undefined"), std::string::npos);
}

TEST(Optim, ErrorsNoteTheUsersLineNotTheStandardLibrarys) {
  const auto where = [](auto&& make) {
    try {
      make();
    } catch (const Error& error) {
      return error.where();
    }
    return Site{"no error", -1};
  };
  const int line = __LINE__ + 1;
  const Site of_make = where([] { (void)optim::make<optim::Adam>({}, {.lr = 0.1}); });
  EXPECT_STREQ(of_make.file, __FILE__);
  EXPECT_EQ(of_make.line, line);
  EXPECT_EQ(where([] { (void)std::make_unique<optim::SGD>(std::vector<Tensor>()); }).line, 0);
}

TEST(Optim, AStepIsAChange) {
  const Tensor p = ones({2}, {.requires_grad = true});
  const Tensor loss = (p * p).sum();
  p.set_grad(ones({2}));
  optim::make<optim::SGD>({p}, {.lr = 0.1})->step();
  EXPECT_NE(error_of([&] { loss.backward(); }).find("modified by an inplace operation"), std::string::npos);
}

TEST_P(OptimOn, TrainsASmallNetwork) {
  nn::Sequential net(nn::Linear(4, 16), nn::Tanh(), nn::Linear(16, 3));
  net.to(device());
  optim::Adam adam(net.parameters(), {.lr = 0.05});
  const Tensor x = randn({64, 4}).to(device());
  const Tensor labels = argmax(x.slice(1, 0, 3), 1);
  double loss = 0;
  for (int step = 0; step < 60; ++step) {
    adam.zero_grad();
    const Tensor value = cross_entropy(net(x), labels);
    value.backward();
    nn::utils::clip_grad_norm_(net.parameters(), 1.0);
    adam.step();
    loss = value.item<double>();
  }
  EXPECT_LT(loss, 0.2);
}

/// Options and state by their names, as a binding reads and sets them.
class Named final : public optim::detail::Visitor {
 public:
  std::map<std::string, double> numbers;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, double> set;
  void operator()(std::string_view name, double& number) override {
    if (const auto found = set.find(std::string(name)); found != set.end()) number = found->second;
    numbers[std::string(name)] = number;
  }
  void operator()(std::string_view name, int64_t& number) override { numbers[std::string(name)] = static_cast<double>(number); }
  void operator()(std::string_view name, bool& flag) override { numbers[std::string(name)] = flag; }
  void operator()(std::string_view name, std::pair<double, double>& two) override { numbers[std::string(name)] = two.first; }
  void operator()(std::string_view name, Tensor& tensor) override { tensors[std::string(name)] = tensor; }
};

TEST(Optimizers, TellAndTakeOptionsAndStateByName) {
  const Tensor p = ones({2}).requires_grad_();
  optim::Adam adam({p}, {.lr = 0.5});
  Named seen;
  adam.each_option(0, seen);
  EXPECT_EQ(seen.numbers.at("lr"), 0.5);
  EXPECT_EQ(seen.numbers.at("betas"), 0.9);
  Named change;
  change.set["lr"] = 0.25;
  adam.each_option(0, change);
  EXPECT_EQ(adam.param_groups()[0].lr, 0.25);
  Named before;
  adam.each_state(0, 0, before);
  EXPECT_FALSE(before.tensors.at("exp_avg").defined());
  p.sum().backward();
  adam.step();
  Named after;
  adam.each_state(0, 0, after);
  EXPECT_EQ(after.numbers.at("step"), 1);
  EXPECT_NEAR(after.tensors.at("exp_avg")[0].item<double>(), 0.1, 1e-7);
  EXPECT_THROW(adam.each_option(1, seen), IndexError);
  EXPECT_THROW(adam.each_state(0, 1, seen), IndexError);
}

}  // namespace
}  // namespace tandem::testing
