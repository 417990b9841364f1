// torch::optim: options, groups, states, steps that tandem's kernels take, files, schedulers.
#include "libtorch/optim.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "libtorch/functions.h"
#include "libtorch/serialize.h"

namespace {

using torch::Tensor;
using namespace torch::optim;

class LibtorchOptim : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] Tensor parameter(std::vector<float> values) const {
    Tensor made = tandem::tensor(values).to(GetParam());
    made.requires_grad_();
    return made;
  }
  static void set_gradient(const Tensor& parameter, double value) { parameter.mutable_grad() = tandem::full_like(parameter, value); }
};
INSTANTIATE_TEST_SUITE_P(Devices, LibtorchOptim, testing::Values("cpu", "cuda:0"));

TEST_P(LibtorchOptim, OptionsOfAGroupCountFromTheNextStepOn) {
  Tensor a = parameter({1, 1}), b = parameter({1, 1});
  SGD sgd({OptimizerParamGroup({a}), OptimizerParamGroup({b}, std::make_unique<SGDOptions>(0.5))}, 0.25);
  set_gradient(a, 1);
  set_gradient(b, 1);
  sgd.step();
  EXPECT_TRUE(a.equal(tandem::full_like(a, 0.75)));
  EXPECT_TRUE(b.equal(tandem::full_like(b, 0.5)));
  static_cast<SGDOptions&>(sgd.param_groups()[0].options()).lr(0);
  sgd.param_groups()[1].options().set_lr(0.25);
  sgd.step();
  EXPECT_TRUE(a.equal(tandem::full_like(a, 0.75)));
  EXPECT_TRUE(b.equal(tandem::full_like(b, 0.25)));
}

TEST_P(LibtorchOptim, StatesThatAProgramChangesAreWhatTheNextStepUses) {
  Tensor p = parameter({0});
  SGD sgd({p}, SGDOptions(1).momentum(0.5));
  set_gradient(p, 1);
  sgd.step();  // p = -1
  auto& state = static_cast<SGDParamState&>(*sgd.state().at(p.ref().get()));
  EXPECT_EQ(state.momentum_buffer().item<float>(), 1);
  state.momentum_buffer(tandem::full_like(p, 4));
  sgd.step();  // momentum 0.5 * 4 + 1 = 3
  EXPECT_EQ(p.item<float>(), -4);
  EXPECT_EQ(state.momentum_buffer().item<float>(), 3);
}

TEST_P(LibtorchOptim, AnOptimizerGoesOnFromAFileAsIfItHadNeverStopped) {
  Tensor p = parameter({1, 2}), q = parameter({1, 2});
  Adam first({p}, AdamOptions(0.1).betas({0.5, 0.9}).amsgrad(true));
  set_gradient(p, 2);
  first.step();
  std::stringstream file;
  torch::save(first, file);
  Adam second({q}, AdamOptions(3));
  torch::load(second, file);
  EXPECT_TRUE(static_cast<AdamOptions&>(second.param_groups()[0].options()) ==
              static_cast<AdamOptions&>(first.param_groups()[0].options()));
  q.detach().copy_(p);
  set_gradient(p, -1);
  set_gradient(q, -1);
  first.step();
  second.step();
  EXPECT_TRUE(p.equal(q));
}

TEST_P(LibtorchOptim, ParametersThatComeLaterKeepTheStatesOfTheOthers) {
  Tensor p = parameter({0}), late = parameter({0});
  SGD sgd({p}, SGDOptions(1).momentum(1));
  set_gradient(p, 1);
  sgd.step();
  sgd.add_param_group(OptimizerParamGroup({late}));
  set_gradient(late, 1);
  sgd.step();
  EXPECT_EQ(p.item<float>(), -3);  // 1, then 1 + 1
  EXPECT_EQ(late.item<float>(), -1);
  EXPECT_THROW(sgd.add_param_group(OptimizerParamGroup({p})), tandem::Error);
}

TEST_P(LibtorchOptim, LBFGSFindsTheLeastOfAParabola) {
  Tensor p = parameter({5, -3});
  LBFGS lbfgs({p}, LBFGSOptions(1).line_search_fn("strong_wolfe"));
  const auto closure = [&] {
    lbfgs.zero_grad();
    Tensor loss = (p - 1).pow(2).sum();
    loss.backward();
    return loss;
  };
  EXPECT_NEAR(lbfgs.step(closure).item<float>(), 32, 1e-4);
  EXPECT_LT(closure().item<float>(), 1e-6);
  EXPECT_THROW(lbfgs.step(), tandem::Error);
}

TEST(LibtorchOptimizers, AnErrorNamesTheUsersLine) {
  Tensor p = tandem::zeros({1});
  try {
    SGD sgd({p}, SGDOptions(-1));
    FAIL();
  } catch (const tandem::Error& error) {
    EXPECT_EQ(error.where().line, __LINE__ - 3);
    EXPECT_NE(error.message().find("Invalid learning rate: -1"), std::string::npos);
  }
}

TEST(LibtorchOptimizers, AProgramsOwnOverridesStep) {
  struct Halves : Optimizer {
    using Optimizer::step;
    explicit Halves(std::vector<Tensor> params) : Optimizer(std::move(params), std::make_unique<SGDOptions>(1.0)) {}
    Tensor step(LossClosure closure) override {
      const tandem::NoGradGuard no_grad;
      for (auto& group : param_groups_)
        for (auto& p : group.params()) p.mul_(0.5);
      return closure ? closure() : Tensor();
    }
  };
  Tensor p = tandem::ones({2});
  Halves halves({p});
  halves.step();
  EXPECT_TRUE(halves.step([&] { return p; }).equal(tandem::full({2}, 0.25)));
}

TEST(LibtorchOptimizers, SchedulersSetTheRates) {
  Tensor p = tandem::zeros({1});
  SGD sgd({p}, 1.0);
  const auto rate = [&] { return sgd.param_groups()[0].options().get_lr(); };
  StepLR steps(sgd, 2, 0.5);
  steps.step();
  steps.step();
  EXPECT_EQ(rate(), 1);
  steps.step();
  EXPECT_EQ(rate(), 0.5);
  ReduceLROnPlateauScheduler plateau(sgd, ReduceLROnPlateauScheduler::min, 0.5F, 1);
  plateau.step(1);
  plateau.step(1);
  EXPECT_EQ(rate(), 0.5);
  plateau.step(1);
  EXPECT_EQ(rate(), 0.25);
}

}  // namespace
