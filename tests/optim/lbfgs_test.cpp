// L-BFGS: PyTorch 2.15's numbers on a bent valley, line searches, state.
#include "nn/support.h"
#include "optim/line_search.h"

namespace tandem::testing {
namespace {

/// (1 - x)² + 20 (z - x²)² + (y - z)², least at (1, 1, 1): x and z in one parameter, y in another.
struct Valley {
  Tensor x, y;
  optim::LBFGS lbfgs;

  Valley(Device device, const optim::LBFGSOptions& options)
      : x(tensor({-1.5, 2.0}, {.dtype = kFloat64, .device = device, .requires_grad = true})),
        y(tensor({{0.5}}, {.dtype = kFloat64, .device = device, .requires_grad = true})),
        lbfgs({x, y}, options) {}
  Tensor loss() const { return square(1 - x[0]) + 20 * square(x[1] - square(x[0])) + square(y - x[1]).sum(); }
  double step() {
    const double sign = lbfgs.param_groups()[0].maximize ? -1 : 1;
    return lbfgs
        .step([&] {
          lbfgs.zero_grad();
          Tensor value = loss() * sign;
          value.backward();
          return value;
        })
        .item<double>();
  }
  [[nodiscard]] std::vector<double> where() const { return values(cat({x, y.flatten()})); }
  [[nodiscard]] int64_t evaluations() const { return lbfgs.state_dict().at("state.0.func_evals").item<int64_t>(); }
};

class LbfgsOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, LbfgsOn, every_device(), device_name);

void expect_path(Device device, const optim::LBFGSOptions& options, const std::vector<double>& losses, const std::vector<double>& end,
                 int64_t evaluations, double tolerance = 1e-9) {
  Valley valley(device, options);
  for (const double loss : losses) EXPECT_NEAR(valley.step(), loss, tolerance * std::abs(loss) + 1e-12);
  const std::vector<double> got = valley.where();
  for (size_t i = 0; i < end.size(); ++i) EXPECT_NEAR(got[i], end[i], tolerance) << i;
  EXPECT_EQ(valley.evaluations(), evaluations);
}

TEST_P(LbfgsOn, FixedStepsAreTorchs) {
  expect_path(device(), {.lr = 0.5, .max_iter = 6}, {9.75}, {-1.3921703535494507, 1.9595036419120522, 0.5560666371021787}, 6);
  expect_path(device(), {.lr = 0.3, .max_iter = 4, .history_size = 2}, {9.75, 8.288900083082794, 7.5575418355095385},
              {-0.9877016976113374, 1.3293893203537779, 1.0332199055728877}, 12);
}

TEST_P(LbfgsOn, LineSearchesAreTorchs) {
  expect_path(device(), {.max_iter = 8, .line_search_fn = "strong_wolfe"}, {9.75},
              {-0.8195476997514102, 0.7150193972202376, 1.3223716313528886}, 10);
  expect_path(device(), {.max_iter = 4, .line_search_fn = "strong_wolfe"}, {9.75, 7.613847946318649, 3.8151308745544363},
              {-0.3929715475196607, 0.12315466898437182, 1.227690245506113}, 15);
  expect_path(device(), {.max_iter = 10, .max_eval = 5, .line_search_fn = "strong_wolfe"}, {9.75, 7.613847946318649},
              {-0.893232732191812, 0.8189526713298426, 1.2900223660736194}, 10);
  expect_path(device(), {.max_iter = 3, .line_search_fn = "strong_wolfe", .maximize = true}, {-9.75, -8.109203208551198},
              {-1.404271619785739, 1.898419675193207, 0.5849863573852285}, 6);
}

TEST_P(LbfgsOn, FindsTheMinimum) {
  Valley valley(device(), {.line_search_fn = "strong_wolfe"});
  for (int i = 0; i < 4; ++i) (void)valley.step();
  for (const double w : valley.where()) EXPECT_NEAR(w, 1, 1e-4);
  EXPECT_EQ(valley.evaluations(), 39);  // as PyTorch: done, a step is one evaluation
}

TEST_P(LbfgsOn, GoesOnFromItsDictionary) {
  const optim::LBFGSOptions options{.max_iter = 4, .history_size = 2, .line_search_fn = "strong_wolfe"};
  Valley whole(device(), options), part(device(), options), other(Device(), {});
  for (int i = 0; i < 2; ++i) (void)whole.step(), (void)part.step();
  const StateDict state = part.lbfgs.state_dict();
  EXPECT_EQ(state.at("state.0.d").sizes(), (Shape{3}));
  EXPECT_TRUE(state.contains("state.0.old_dirs.1") && !state.contains("state.0.old_dirs.2"));
  EXPECT_FALSE(state.contains("state.1.n_iter"));
  other.lbfgs.load_state_dict(state);
  EXPECT_EQ(other.lbfgs.param_groups()[0].line_search_fn, "strong_wolfe");
  EXPECT_EQ(other.lbfgs.param_groups()[0].max_eval, 5);
  {
    const NoGradGuard no_grad;
    other.x.copy_(part.x);
    other.y.copy_(part.y);
  }
  (void)whole.step();
  (void)other.step();
  const std::vector<double> end = whole.where(), got = other.where();
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], end[i], 1e-12);
  StateDict wrong = state;
  wrong["state.0.d"] = ones({2}, kFloat64);
  EXPECT_NE(error_of([&] { other.lbfgs.load_state_dict(wrong); }).find("state.0.d has size [2], but its parameter here has [3]"),
            std::string::npos);
}

TEST_P(LbfgsOn, TrainsInFloat32) {
  nn::Sequential net(nn::Linear(2, 8), nn::Tanh(), nn::Linear(8, 1));
  net.to(device());
  const Tensor x = tensor({{0.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}, {1.0, 1.0}}).to(device()),
               y = tensor({{0.0}, {1.0}, {1.0}, {0.0}}).to(device());
  optim::LBFGS lbfgs(net.parameters(), {.max_iter = 100, .line_search_fn = "strong_wolfe"});
  const auto closure = [&] {
    lbfgs.zero_grad();
    Tensor loss = mse_loss(net(x), y);
    loss.backward();
    return loss;
  };
  const double before = lbfgs.step(closure).item<double>();
  EXPECT_LT(mse_loss(net(x), y).item<double>(), before / 100);
}

TEST(Lbfgs, Errors) {
  Tensor p = ones({2}, {.requires_grad = true});
  optim::LBFGS lbfgs({p});
  EXPECT_EQ(error_of([&] { static_cast<optim::Optimizer&>(lbfgs).step(); }),
            "[LBFGS] step needs a closure that clears the gradients, computes the loss, calls backward and returns the loss");
  EXPECT_EQ(error_of([&] { optim::LBFGS bad({p}, {.line_search_fn = "armijo"}); }),
            "[LBFGS] only 'strong_wolfe' is supported as line_search_fn, got 'armijo'");
  EXPECT_EQ(error_of([&] { (void)lbfgs.step([] { return Tensor(); }); }), "[LBFGS] the closure must return the loss");
  EXPECT_EQ(values(p), (std::vector<double>{1, 1}));
}

TEST(LineSearch, CubicThroughTwoPoints) {
  // t³ - 3t has its minimum at 1.
  const auto at = [](double t) {
    return optim::detail::LinePoint{.t = t, .loss = t * t * t - 3 * t, .gradient = {}, .slope = 3 * t * t - 3};
  };
  EXPECT_NEAR(optim::detail::cubic_minimum(at(0), at(3), 0, 3), 1, 1e-12);
  EXPECT_NEAR(optim::detail::cubic_minimum(at(3), at(0.5), 0, 3), 1, 1e-12);
  EXPECT_EQ(optim::detail::cubic_minimum(at(0), at(3), 1.5, 3), 1.5);
}

TEST(LineSearch, MeetsTheWolfeConditions) {
  int calls = 0;
  const auto at = [&](double t) {
    ++calls;
    return optim::detail::LinePoint{.t = t, .loss = std::cosh(t - 5), .gradient = {}, .slope = std::sinh(t - 5)};
  };
  const optim::detail::LinePoint start = at(0);
  for (const double first : {0.01, 1.0, 30.0}) {
    calls = 0;
    const auto [best, evaluations] = optim::detail::strong_wolfe(at, start, first, 1, 1e-9, 25);
    EXPECT_EQ(calls, evaluations);
    EXPECT_LE(best.loss, start.loss + 1e-4 * best.t * start.slope);
    EXPECT_LE(std::abs(best.slope), -0.9 * start.slope);
  }
}

}  // namespace
}  // namespace tandem::testing
