// ZeroRedundancyOptimizer: the steps of an optimizer that is not divided, with a part of its state on each rank.
#include "parallel/ranks.h"
#include "parallel/zero_redundancy_optimizer.h"

namespace tandem::testing {
namespace {

namespace dist = distributed;

class ZeroRedundancy : public OnRanks {};

nn::Sequential network() {
  return seeded(5, [] { return nn::Sequential(nn::Linear(5, 7), nn::Tanh(), nn::Linear(7, 3), nn::Tanh(), nn::Linear(3, 2)); });
}

/// Trains with an O, and with one in shards, on the same gradients: the same parameters to the bit.
template <class O>
void expect_same_steps(Device device, const typename O::Options& options) {
  nn::Sequential net = network(), reference = network();
  net.to(device);
  reference.to(device);
  optim::ZeroRedundancyOptimizer<O> sharded(net.parameters(), options);
  O whole(reference.parameters(), options);
  for (int step = 0; step < 3; ++step) {
    const Tensor x = seeded_randn(static_cast<uint64_t>(step), {4, 5}, device);
    sharded.zero_grad();
    whole.zero_grad();
    net(x).pow(2).sum().backward();
    reference(x).pow(2).sum().backward();
    if (step == 1) net.parameters()[1].grad() = reference.parameters()[1].grad() = Tensor();  // passed over
    sharded.step();
    whole.step();
  }
  for (size_t i = 0; i < net.parameters().size(); ++i)
    EXPECT_TRUE(allclose(net.parameters()[i], reference.parameters()[i], 1e-6, 1e-7)) << whole.name() << " " << i;
  // The whole state is that of the optimizer that is not divided, and can be loaded into either.
  const StateDict state = sharded.state_dict(), expected = whole.state_dict();
  EXPECT_EQ(state.size(), expected.size()) << whole.name();
  for (const auto& [name, value] : expected) {
    const Tensor* found = state.find(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->sizes(), value.sizes()) << name;
    EXPECT_TRUE(allclose(found->to(kFloat64), value.cpu().to(kFloat64), 1e-6, 1e-7)) << name;
  }
}

TEST_P(ZeroRedundancy, StepsAsTheOptimizerThatIsNotDivided) {
  run([&](int, Device device) {
    expect_same_steps<optim::SGD>(device, {.lr = 0.1, .momentum = 0.9});
    expect_same_steps<optim::Adam>(device, {.lr = 0.1});
    expect_same_steps<optim::AdamW>(device, {.lr = 0.1, .amsgrad = true});
    expect_same_steps<optim::RMSprop>(device, {.lr = 0.1, .momentum = 0.5});
    expect_same_steps<optim::Adagrad>(device, {.lr = 0.1});
  });
}

TEST_P(ZeroRedundancy, KeepsAPartOfTheState) {
  run([&](int, Device device) {
    nn::Sequential net = seeded(1, [] { return nn::Sequential(nn::Linear(64, 64), nn::Linear(64, 64)); });
    net.to(device);
    optim::ZeroRedundancyOptimizer<optim::Adam> sharded(net.parameters(), {});
    EXPECT_EQ(sharded.state_bytes(), 0u);
    net(ones({1, 64}, device)).sum().backward();
    sharded.step();
    const auto whole = static_cast<size_t>(net.num_parameters()) * 8;
    EXPECT_GT(sharded.state_bytes(), 0u);
    EXPECT_LE(sharded.state_bytes(), whole / static_cast<size_t>(world()) + 1024);
    expect_same_bits(net);
  });
}

TEST_P(ZeroRedundancy, StateGoesOntoAnyNumberOfRanks) {
  const World world = GetParam();
  StateDict state;
  Tensor weights, after;
  const auto train = [](auto& optimizer, nn::Sequential& net, Device device) {
    optimizer.zero_grad();
    net(ones({2, 5}, device)).pow(2).sum().backward();
    optimizer.step();
  };
  run([&](int rank, Device device) {
    nn::Sequential net = network();
    net.to(device);
    optim::ZeroRedundancyOptimizer<optim::Adam> sharded(net.parameters(), {.lr = 0.05});
    train(sharded, net, device);
    sharded.param_groups()[0].lr = 0.02;
    const StateDict saved = sharded.state_dict();
    if (rank == 0) {
      state = saved;
      weights = net.at<nn::Linear>(0).weight.detach().cpu().clone();
    }
    train(sharded, net, device);
    if (rank == 0) after = net.at<nn::Linear>(0).weight.detach().cpu().clone();
  });
  const nn::Sequential first = [&] {
    nn::Sequential net = network();
    optim::Adam adam(net.parameters(), {.lr = 0.05});
    train(adam, net, cpu());
    return net;
  }();
  EXPECT_TRUE(allclose(weights, first.parameters()[0], 1e-4, 1e-6));
  for (const int ranks : {1, world.size + 1}) {
    dist::run_ranks(ranks, [&](int) {
      nn::Sequential net = nn::clone(first);
      optim::ZeroRedundancyOptimizer<optim::Adam> sharded(net.parameters(), {.lr = 1});
      sharded.load_state_dict(state);
      EXPECT_EQ(sharded.param_groups()[0].lr, 0.02);
      train(sharded, net, cpu());
      EXPECT_TRUE(allclose(net.at<nn::Linear>(0).weight, after, 1e-4, 1e-6)) << ranks;
    });
  }
}

TEST_P(ZeroRedundancy, GradientsInShardsAreTheAverage) {
  run([&](int, Device device) {
    nn::Sequential net = network(), reference = network();
    net.to(device);
    reference.to(device);
    optim::ZeroRedundancyOptimizer<optim::Adam> sharded(net.parameters(), {.lr = 0.1, .eps = 1e-3}, {.shard_gradients = true});
    optim::Adam whole(reference.parameters(), {.lr = 0.1, .eps = 1e-3});
    for (int step = 0; step < 3; ++step) {
      const Tensor x = seeded_randn(static_cast<uint64_t>(step), {12, 5}, device);
      sharded.zero_grad();
      whole.zero_grad();
      for (int part = 0; part <= step; ++part) {  // backwards add up
        net(share(x) * (part + 1)).pow(2).mean().backward();
        reference(x * (part + 1)).pow(2).mean().backward();
      }
      for (const Tensor& parameter : net.parameters()) EXPECT_FALSE(parameter.grad().defined());
      sharded.step();
      whole.step();
    }
    for (size_t i = 0; i < net.parameters().size(); ++i)
      EXPECT_TRUE(allclose(net.parameters()[i], reference.parameters()[i], 1e-3, 1e-4)) << i;
    expect_same_bits(net);
  });
}

TEST_P(ZeroRedundancy, GroupsKeepTheirOptionsAndSchedulesSetThem) {
  run([&](int, Device device) {
    nn::Linear a = seeded(1, [&] { return nn::Linear(3, 3, {.device = device}); }),
               b = seeded(2, [&] { return nn::Linear(3, 3, {.device = device}); });
    const Tensor before_a = a.weight.detach().clone(), before_b = b.weight.detach().clone();
    optim::ZeroRedundancyOptimizer<optim::SGD> sharded(a.parameters(), {.lr = 1});
    sharded.add_param_group(b.parameters(), {.lr = 10});
    optim::StepLR schedule(sharded, 1, 0.5);
    for (int step = 0; step < 2; ++step) {
      sharded.zero_grad();
      (a.weight.sum() + b.weight.sum()).backward();
      sharded.step();
      schedule.step();
    }
    EXPECT_TRUE(allclose(a.weight, before_a - 1.5, 1e-5, 1e-5));
    EXPECT_TRUE(allclose(b.weight, before_b - 15.0, 1e-5, 1e-5));
  });
}

TEST_P(ZeroRedundancy, ParametersMayBeReplacedButNotMoved) {
  run([&](int, Device device) {
    nn::Linear net(3, 2, {.device = device});
    optim::ZeroRedundancyOptimizer<optim::SGD> sharded(net.parameters(), {.lr = 1});
    StateDict other;
    other["weight"] = zeros({2, 3}, device);
    other["bias"] = zeros({2}, device);
    (void)net.load_state_dict(other, {.assign = true});
    net(ones({1, 3}, device)).sum().backward();
    sharded.step();
    expect_near(net.weight, {-1, -1, -1, -1, -1, -1});
    net.to(kFloat64);
    EXPECT_NE(error_of([&] { sharded.step(); }).find("parameter 0 is now float64"), std::string::npos);
    EXPECT_NE(error_of([&] { sharded.load_state_dict({}); }).find("param"), std::string::npos);
  });
  nn::Linear net(2, 2);
  EXPECT_NE(error_of([&] { optim::ZeroRedundancyOptimizer<optim::SGD> alone(net.parameters()); }).find("init_process_group"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ZeroRedundancy, every_world(), world_name);

}  // namespace
}  // namespace tandem::testing
