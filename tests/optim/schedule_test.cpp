// Schedules against the numbers that torch.optim.lr_scheduler gives.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "runtime/expect_error.h"
#include "tandem.h"

namespace tandem {
namespace {

using Numbers = std::vector<double>;

void expect_near(const Numbers& got, const Numbers& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-9) << "at epoch " << i;
}

/// The rates of as many epochs as `wanted` has, from 0.1 on.
template <class Make>
void expect_rates(Make make, const Numbers& wanted) {
  const Tensor p = zeros({1}, {.requires_grad = true});
  optim::SGD sgd({p}, {.lr = 0.1, .momentum = 0.9});
  const auto schedule = make(sgd);
  Numbers got{sgd.param_groups()[0].lr};
  while (got.size() < wanted.size()) {
    sgd.step();
    schedule->step();
    got.push_back(schedule->get_last_lr().at(0));
  }
  expect_near(got, wanted);
}

template <class S, class... Arguments>
auto making(Arguments... arguments) {
  return [=](optim::Optimizer& optimizer) { return std::make_shared<S>(optimizer, arguments...); };
}

TEST(Schedule, Steps) {
  expect_rates(making<optim::StepLR>(3, 0.5), {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025});
  expect_rates(making<optim::MultiStepLR>(std::vector<int64_t>{2, 5, 5}, 0.5), {0.1, 0.1, 0.05, 0.05, 0.05, 0.0125, 0.0125});
  expect_rates(making<optim::ExponentialLR>(0.9), {0.1, 0.09, 0.081, 0.0729, 0.06561});
  expect_rates(making<optim::LambdaLR>([](int64_t epoch) { return 1.0 / static_cast<double>(1 + epoch); }),
               {0.1, 0.05, 0.1 / 3, 0.025, 0.02});
}

TEST(Schedule, Curves) {
  expect_rates(making<optim::CosineAnnealingLR>(4, 0.01),
               {0.1, 0.08681980515, 0.055, 0.02318019485, 0.01, 0.02318019485, 0.055, 0.08681980515, 0.1, 0.08681980515});
  expect_rates(making<optim::LinearLR>(0.25, 1.0, 4), {0.025, 0.04375, 0.0625, 0.08125, 0.1, 0.1, 0.1});
  expect_rates(making<optim::PolynomialLR>(4, 2.0), {0.1, 0.05625, 0.025, 0.00625, 0, 0, 0});
}

TEST(Schedule, FactorsOfTheFirstRateAndOfTheOneBefore) {
  expect_rates(making<optim::ConstantLR>(0.25, 3), {0.025, 0.025, 0.025, 0.1, 0.1, 0.1});
  expect_rates(making<optim::MultiplicativeLR>([](int64_t epoch) { return 1.0 / static_cast<double>(1 + epoch); }),
               {0.1, 0.05, 0.05 / 3, 0.05 / 12, 0.05 / 60});
  expect_rates(
      [](optim::Optimizer& sgd) {
        return std::make_shared<optim::ChainedScheduler>(std::vector<std::shared_ptr<optim::Schedule>>{
            std::make_shared<optim::ConstantLR>(sgd, 0.5, 2), std::make_shared<optim::ExponentialLR>(sgd, 0.9)});
      },
      {0.05, 0.045, 0.081, 0.0729, 0.06561, 0.059049});
}

TEST(Schedule, WarmRestarts) {
  expect_rates(making<optim::CosineAnnealingWarmRestarts>(3, 1, 0.01), {0.1, 0.0775, 0.0325, 0.1, 0.0775, 0.0325, 0.1, 0.0775});
  expect_rates(making<optim::CosineAnnealingWarmRestarts>(2, 2, 0.01),
               {0.1, 0.055, 0.1, 0.08681980515, 0.055, 0.02318019485, 0.1, 0.09657457896, 0.08681980515});
}

TEST(Schedule, CyclesWithTheirMomentum) {
  const auto expect = [](const optim::CyclicOptions& options, const Numbers& rates, const Numbers& momenta) {
    const Tensor p = zeros({1}, {.requires_grad = true});
    optim::SGD sgd({p}, {.lr = 0.1, .momentum = 0.9});
    optim::CyclicLR schedule(sgd, 0.1, 0.5, options);
    Numbers got, momentum;
    for (size_t i = 0; i < rates.size(); ++i) {
      got.push_back(sgd.param_groups()[0].lr);
      momentum.push_back(sgd.param_groups()[0].momentum);
      schedule.step();
    }
    expect_near(got, rates);
    expect_near(momentum, momenta);
  };
  expect({.step_size_up = 3, .step_size_down = 2}, {0.1, 0.7 / 3, 1.1 / 3, 0.5, 0.3, 0.1, 0.7 / 3, 1.1 / 3, 0.5},
         {0.9, 2.6 / 3, 2.5 / 3, 0.8, 0.85, 0.9, 2.6 / 3, 2.5 / 3, 0.8});
  expect({.step_size_up = 2, .mode = "triangular2"}, {0.1, 0.3, 0.5, 0.3, 0.1, 0.2, 0.3, 0.2, 0.1},
         {0.9, 0.85, 0.8, 0.85, 0.9, 0.875, 0.85, 0.875, 0.9});
  expect({.step_size_up = 2, .mode = "exp_range", .gamma = 0.9}, {0.1, 0.28, 0.424, 0.2458, 0.1, 0.218098, 0.3125764},
         {0.9, 0.855, 0.819, 0.86355, 0.9, 0.8704755, 0.8468559});
  expect({.step_size_up = 1, .scale_fn = [](double cycle) { return cycle / 4; }, .cycle_momentum = false}, {0.1, 0.2, 0.1, 0.3, 0.1, 0.4},
         Numbers(6, 0.9));

  const Tensor p = zeros({1}, {.requires_grad = true});
  optim::SGD sgd({p}, {.lr = 0.1});
  EXPECT_THROW(optim::CyclicLR(sgd, 0.1, 0.5, {.mode = "square"}), Error);
  EXPECT_THROW(optim::CyclicLR(sgd, 0.1, 0.5, {.step_size_up = 0}), Error);
  optim::Adagrad without({p});
  EXPECT_THROW(optim::CyclicLR(without, 0.1, 0.5), Error);
}

TEST(Schedule, GoesOnBehindAnEpoch) {
  const Tensor p = zeros({1}, {.requires_grad = true});
  optim::SGD sgd({p}, {.lr = 0.05});
  EXPECT_THROW(optim::StepLR(sgd, 3, 0.5, 2), Error);  // nothing has begun yet
  sgd.param_groups()[0].initial_lr = 0.1;
  const auto after = [&](auto make) {
    sgd.param_groups()[0].lr = 0.05;
    make();
    return sgd.param_groups()[0].lr;
  };
  EXPECT_DOUBLE_EQ(after([&] { EXPECT_EQ(optim::StepLR(sgd, 3, 0.5, 2).last_epoch(), 3); }), 0.025);
  EXPECT_DOUBLE_EQ(after([&] {
                     optim::LambdaLR(
                         sgd, [](int64_t epoch) { return 1.0 / static_cast<double>(1 + epoch); }, 4);
                   }),
                   0.1 / 6);
  EXPECT_DOUBLE_EQ(after([&] { optim::CosineAnnealingWarmRestarts(sgd, 4, 1, 0, 5); }), 0.05);
}

TEST(Schedule, OneCycle) {
  expect_rates(making<optim::OneCycleLR>(1.0, 10),
               {0.04, 0.52, 1.0, 0.950484632, 0.8117456539, 0.6112620219, 0.3887419781, 0.1882583461, 0.04951936799, 4e-06});
  expect_rates(making<optim::OneCycleLR>(1.0, 12, optim::OneCycleOptions{.cosine = false, .three_phase = true}),
               {0.04, 0.4092307692, 0.7784615385, 0.8523076923, 0.4830769231, 0.1138461538, 0.03448331034, 0.02758744828, 0.02069158621,
                0.01379572414, 0.006899862069, 4e-06});
  const Tensor p = zeros({1}, {.requires_grad = true});
  optim::Adam adam({p}, {.betas = {0.9, 0.99}});
  optim::OneCycleLR schedule(adam, 1.0, 10);
  Numbers momentum{adam.param_groups()[0].betas.first};
  for (int i = 0; i < 9; ++i) {
    schedule.step();
    momentum.push_back(adam.param_groups()[0].betas.first);
  }
  expect_near(momentum, {0.95, 0.9, 0.85, 0.8549515566, 0.8688255099, 0.8888739533, 0.9111260467, 0.9311744901, 0.9450484434, 0.95});
  // The step after the last batch, which the usual loop takes, and no other.
  schedule.step();
  expect_near(schedule.get_last_lr(), {4e-6});
  EXPECT_ERROR(schedule.step(), Error, "Tried to step 11 times. The specified number of total steps is 10");
  expect_near(schedule.get_last_lr(), {4e-6});
  for (const bool three_phase : {false, true})
    for (const bool cosine : {false, true}) {
      optim::OneCycleLR whole(adam, 1.0, 5, {.cosine = cosine, .three_phase = three_phase});
      for (int i = 0; i < 5; ++i) {
        whole.step();
        EXPECT_GT(whole.get_last_lr()[0], 0) << i;
      }
      EXPECT_ERROR(whole.step(), Error, "Tried to step 6 times");
    }
  optim::Adagrad without({zeros({1}, {.requires_grad = true})});
  EXPECT_THROW(optim::OneCycleLR(without, 1.0, 10), Error);
}

TEST(Schedule, OneAfterAnother) {
  expect_rates(
      [](optim::Optimizer& optimizer) {
        std::vector<std::shared_ptr<optim::Schedule>> both{std::make_shared<optim::LinearLR>(optimizer, 0.25, 1.0, 3),
                                                           std::make_shared<optim::ExponentialLR>(optimizer, 0.5)};
        return std::make_shared<optim::SequentialLR>(optimizer, std::move(both), std::vector<int64_t>{3});
      },
      {0.025, 0.05, 0.075, 0.1, 0.05, 0.025, 0.0125, 0.00625});
}

TEST(Schedule, Plateau) {
  const Tensor p = zeros({1}, {.requires_grad = true});
  optim::SGD sgd({p}, {.lr = 0.1});
  optim::ReduceLROnPlateau schedule(sgd, {.factor = 0.5, .patience = 1, .cooldown = 1});
  Numbers got;
  for (const double metric : {1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.8, 0.8, 0.8}) {
    schedule.step(metric);
    got.push_back(schedule.get_last_lr().at(0));
  }
  expect_near(got, {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125, 0.0125});
}

TEST(Schedule, GoesOnFromItsState) {
  const auto run = [](int epochs, int saved_at) {
    const Tensor p = zeros({1}, {.requires_grad = true});
    auto sgd = std::make_unique<optim::SGD>(std::vector<Tensor>{p}, optim::SGDOptions{.lr = 0.1});
    auto schedule = std::make_unique<optim::CosineAnnealingLR>(*sgd, 7);
    for (int i = 0; i < epochs; ++i) {
      if (i == saved_at) {
        const StateDict rates = sgd->state_dict(), state = schedule->state_dict();
        schedule.reset();
        sgd = std::make_unique<optim::SGD>(std::vector<Tensor>{p}, optim::SGDOptions{.lr = 0.1});
        schedule = std::make_unique<optim::CosineAnnealingLR>(*sgd, 7);
        schedule->load_state_dict(state);
        sgd->load_state_dict(rates);
      }
      schedule->step();
    }
    return schedule->get_last_lr().at(0);
  };
  EXPECT_EQ(run(6, -1), run(6, 3));
}

TEST(Schedule, WrongArguments) {
  optim::SGD sgd({zeros({1}, {.requires_grad = true})}, {.lr = 0.1});
  EXPECT_THROW(optim::StepLR(sgd, 0), Error);
  EXPECT_THROW(optim::LinearLR(sgd, 0.0), Error);
  EXPECT_THROW(optim::ReduceLROnPlateau(sgd, {.factor = 1.5}), Error);
  EXPECT_THROW(optim::SequentialLR(sgd, {}, {}), Error);
}

}  // namespace
}  // namespace tandem
