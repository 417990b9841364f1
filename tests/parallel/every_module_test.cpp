// Every module of nn that has parameters: its gradients on two devices, and on two ranks, are those of one device. Normalization by a
// batch's statistics is tested in evaluation mode, and where its statistics are of all ranks.
#include "support/every_module.h"

#include <functional>

#include "nn/support.h"
#include "parallel/ranks.h"

namespace tandem::testing {
namespace {

/// A module as one from tensor to tensor: `call` gives it its further arguments, and takes the first tensor of its results.
template <class M>
struct Called : nn::Module {
  M inner;
  std::function<Tensor(M&, const Tensor&)> call;
  Called(M module, std::function<Tensor(M&, const Tensor&)> call) : inner(std::move(module)), call(std::move(call)) {}
  void fields(nn::Fields& f) override { f("inner", inner); }
  Tensor forward(const Tensor& x) override { return call(inner, x); }
};

/// What tests a module: the check on devices, that on ranks, and the module's name.
struct Checks {
  std::string name;
  std::function<void()> on_devices, on_ranks;
};

/// A loss that is a mean over samples, whose gradient is not the same everywhere.
Tensor loss_of(const Tensor& y) { return (y * y).flatten(1).sum(1).mean() + y.mean(); }

template <class M>
void expect_same_gradients(const M& module, const nn::ModuleBase& reference, const char* how) {
  const auto expected = reference.named_parameters(), got = module.named_parameters();
  ASSERT_EQ(expected.size(), got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(expected[i].second.grad().defined(), got[i].second.grad().defined()) << how << ": " << got[i].first;
    if (!expected[i].second.grad().defined()) continue;
    EXPECT_TRUE(allclose(got[i].second.grad().cpu(), expected[i].second.grad().cpu(), 1e-3, 1e-4)) << how << ": " << got[i].first;
  }
}

template <class M>
Checks checks_of(const M& inner, const Tensor& x, std::function<Tensor(M&, const Tensor&)> call) {
  Called<M> module(inner, call);
  if (module.has_uninitialized_params()) nn::initialize(module, x);
  module.eval();
  const auto on_devices = [module, x] {
    Called<M> net = nn::clone(module), reference = nn::clone(module);
    net.to(gpu(0));
    parallel::DataParallel both(net, {gpu(0), gpu(1)});
    loss_of(both(x.to(gpu(0)))).backward();
    loss_of(reference(x)).backward();
    expect_same_gradients(net, reference, "two devices");
  };
  const auto on_ranks = [module, x] {
    Called<M> reference = nn::clone(module);
    loss_of(reference(x)).backward();
    distributed::run_ranks(2, [&](int rank) {
      Called<M> net = nn::clone(module);
      net.eval();
      parallel::DistributedDataParallel ddp(net);
      loss_of(ddp(x.narrow(0, rank * x.size(0) / 2, x.size(0) / 2))).backward();
      expect_same_gradients(net, reference, "two ranks");
    });
  };
  return {inner.name(), on_devices, on_ranks};
}
template <class M>
Checks checks_of(const M& inner, const Tensor& x) {
  return checks_of<M>(inner, x, [](M& module, const Tensor& in) { return static_cast<nn::Module&>(module)(in); });
}

std::vector<Checks> every_checks() {
  std::vector<Checks> all;
  every_module([&]<class M>(const M& module, const Tensor& x, auto... call) { all.push_back(checks_of<M>(module, x, call...)); });
  return all;
}

TEST(EveryModule, HasTheGradientsOfOneDeviceOnTwo) {
  for (const Checks& checks : every_checks()) {
    SCOPED_TRACE(checks.name);
    checks.on_devices();
  }
}

TEST(EveryModule, HasTheGradientsOfOneDeviceOnTwoRanks) {
  for (const Checks& checks : every_checks()) {
    SCOPED_TRACE(checks.name);
    checks.on_ranks();
  }
}

// A replica's running figures on the module's own device stay: those of its share of the batch.
TEST(EveryModule, RunningFiguresAreThoseOfTheFirstShare) {
  for (int kind = 1; kind <= 2; ++kind) {
    manual_seed(kind);
    nn::Sequential net(nn::Conv2d(2, 3, 3), nn::BatchNorm2d(3));
    net.to(gpu(0));
    nn::Sequential reference = nn::clone(net);
    const Tensor x = randn({7, 2, 5, 5}, gpu(0));
    parallel::DataParallel both(net, {gpu(0), gpu(1)});
    for (int step = 0; step < 2; ++step) {
      both(x).sum().backward();
      (void)reference(x.narrow(0, 0, 4));
    }
    const StateDict state = net.state_dict();
    for (const auto& [name, value] : reference.state_dict())
      EXPECT_TRUE(allclose(state.at(name).to(kFloat64), value.to(kFloat64), 1e-5, 1e-6)) << name;
  }
}

}  // namespace
}  // namespace tandem::testing
