// ZeroRedundancyOptimizer: the steps of an optimizer that is not divided, with a part of its state on each rank.
#include "optim/grad_scaler.h"
#include "parallel/distributed_data_parallel.h"
#include "parallel/ranks.h"
#include "parallel/zero_redundancy_optimizer.h"

namespace tandem::testing {
namespace {

namespace dist = distributed;

class ZeroRedundancy : public OnRanks {};
/// Those in which a run of ranks leaves something for the next one.
class ZeroRedundancyStates : public OnRanks {};

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
    EXPECT_EQ(sharded.state_bytes(), 0);
    net(ones({1, 64}, device)).sum().backward();
    sharded.step();
    const int64_t whole = net.num_parameters() * 8;
    EXPECT_GT(sharded.state_bytes(), 0);
    EXPECT_LE(sharded.state_bytes(), whole / world() + 1024);
    expect_same_bits(net);
  });
}

TEST_P(ZeroRedundancyStates, StateGoesOntoAnyNumberOfRanks) {
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
      int64_t kept = 0;
      for (const Tensor& parameter : net.parameters()) kept += parameter.grad().numel();
      const Tensor sum = tensor({kept}, kInt64);
      dist::all_reduce(sum);
      EXPECT_EQ(sum.item<int64_t>(), net.num_parameters());  // each element on one rank
      sharded.step();
      whole.step();
    }
    for (size_t i = 0; i < net.parameters().size(); ++i)
      EXPECT_TRUE(allclose(net.parameters()[i], reference.parameters()[i], 1e-3, 1e-4)) << i;
    expect_same_parameters(net);
  });
}

struct Parts : nn::Module {
  nn::Linear first{5, 7}, frozen{7, 7}, unused{3, 3}, sometimes{7, 7}, last{7, 2};
  bool all = false;
  Parts() { frozen.requires_grad_(false); }
  void fields(nn::Fields& f) override {
    f("first", first);
    f("frozen", frozen);
    f("unused", unused);
    f("sometimes", sometimes);
    f("last", last);
  }
  Tensor forward(const Tensor& x) override {
    const Tensor hidden = tanh(frozen(tanh(first(x))));
    return last(all ? sometimes(hidden) : hidden);
  }
};

/// The usual loop, on each rank with its share of the batch and on one with all of it: accumulation, clipping, a scaler, gradients that are
/// forgotten by the optimizer or the module, in either way, and parameters that have none. `backward`: what it takes to average.
struct Loop {
  bool by_module = false, set_to_none = true, scaled = false;
  template <class Net, class O>
  std::vector<double> run(Net& net, O& optimizer, const std::function<Tensor(const Tensor&)>& own, Device device) const {
    std::vector<double> norms;
    amp::GradScaler scaler({.init_scale = 1024, .growth_interval = 2, .enabled = scaled});
    for (int step = 0; step < 5; ++step) {
      net.all = step == 2;
      for (int part = 0; part < 2; ++part) {
        const Tensor x = seeded_randn(static_cast<uint64_t>(10 * step + part), {12, 5}, device);
        scaler.scale(net(own(x)).pow(2).mean()).backward();
      }
      if (step == 3) optimizer.param_groups()[0].params[0].grad().mul_(scaled ? INFINITY : 0.5);
      scaler.unscale_(optimizer);
      norms.push_back(nn::utils::clip_grad_norm_(net.parameters(), 0.3).template item<float>());
      scaler.step(optimizer);
      if (scaled) scaler.update();
      if (by_module) net.zero_grad(set_to_none);
      else optimizer.zero_grad(set_to_none);
    }
    if (scaled) norms.push_back(scaler.get_scale());
    return norms;
  }
};

TEST_P(ZeroRedundancy, TheUsualLoopHoldsForGradientsInShards) {
  run([&](int, Device device) {
    for (const bool by_module : {false, true})
      for (const bool set_to_none : {true, false})
        for (const bool scaled : {false, true}) {
          Parts net = seeded(3, [] { return Parts(); });
          net.to(device);
          Parts reference = nn::clone(net);
          // With these options a parameter whose gradient is zero moves, and one without a gradient does not.
          const optim::SGD::Options options{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1};
          optim::ZeroRedundancyOptimizer<optim::SGD> sharded(net.parameters(), options, {.shard_gradients = true});
          optim::SGD whole(reference.parameters(), options);
          const Loop loop{by_module, set_to_none, scaled};
          const auto found = loop.run(net, static_cast<optim::Optimizer&>(sharded), share, device);
          const auto expected = loop.run(
              reference, static_cast<optim::Optimizer&>(whole), [](const Tensor& x) { return x; }, device);
          ASSERT_EQ(found.size(), expected.size());
          for (size_t i = 0; i < found.size(); ++i) {
            if (std::isfinite(expected[i])) EXPECT_NEAR(found[i], expected[i], 1e-4 * expected[i] + 1e-5) << i;
            else EXPECT_FALSE(std::isfinite(found[i])) << i;
          }
          for (const auto& [name, value] : reference.named_parameters())
            EXPECT_TRUE(allclose(net.state_dict().at(name), value, 1e-3, 1e-4)) << name << by_module << set_to_none << scaled;
          expect_same_parameters(net);
        }
  });
}

TEST_P(ZeroRedundancy, AGradientOfSomeRanksCountsAsZeroOnTheOthers) {
  run([&](int rank, Device device) {
    Parts net = seeded(3, [] { return Parts(); });
    net.to(device);
    optim::ZeroRedundancyOptimizer<optim::SGD> sharded(net.parameters(), {.lr = 1}, {.shard_gradients = true});
    const Tensor before = net.sometimes.bias.detach().clone(), unused = net.unused.bias.detach().clone();
    net.all = rank == world() - 1;
    net(ones({1, 5}, device)).sum().backward();
    const Tensor expected = [&] {
      Parts alone = nn::clone(net);
      alone.all = true;
      alone(ones({1, 5}, device)).sum().backward();
      return before - alone.sometimes.bias.grad() / world();
    }();
    sharded.step();
    EXPECT_TRUE(allclose(net.sometimes.bias, expected, 1e-4, 1e-5));
    EXPECT_TRUE(equal(net.unused.bias, unused));
    expect_same_parameters(net);
  });
}

TEST_P(ZeroRedundancy, StageTwoMakesTheRanksAlikeAndSurvivesAFailedBackward) {
  run([&](int rank, Device device) {
    const auto linear = [&](uint64_t seed, int64_t out) { return seeded(seed, [&] { return nn::Linear(7, out); }); };
    nn::Linear net = linear(static_cast<uint64_t>(rank), 3), first = linear(0, 3);
    net.to(device);
    first.to(device);
    optim::ZeroRedundancyOptimizer<optim::SGD> sharded(net.parameters(), {.lr = 1}, {.shard_gradients = true});
    EXPECT_TRUE(equal(net.weight, first.weight));
    const Tensor x = ones({1, 7}, device).requires_grad_();
    const auto hook = x.register_hook([](const Tensor& gradient) -> Tensor { return gradient.view({-1}); });
    EXPECT_NE(error_of([&] { net(x * (rank + 1)).sum().backward(); }).find("changed the size"), std::string::npos);
    x.remove_hook(hook);
    net.zero_grad();
    net(x * (rank + 1)).sum().backward();
    sharded.step();
    EXPECT_TRUE(allclose(net.weight, first.weight - (world() + 1) / 2.0, 1e-5, 1e-5));
    nn::Linear odd = linear(0, rank == 0 ? 3 : 4);
    odd.to(device);
    EXPECT_NE(error_of([&] {
                optim::ZeroRedundancyOptimizer<optim::SGD> other(odd.parameters(), {}, {.shard_gradients = true});
              }).find("on rank 1"),
              std::string::npos);
  });
}

TEST_P(ZeroRedundancy, SaysWhoAveragesWhatInStageTwo) {
  run([&](int, Device device) {
    Parts net;
    net.to(device);
    const optim::ZeroRedundancyOptions stage_two{.shard_gradients = true};
    optim::ZeroRedundancyOptimizer<optim::SGD> sharded(net.parameters(), {}, stage_two);
    EXPECT_NE(error_of([&] { optim::ZeroRedundancyOptimizer<optim::SGD> again(net.parameters(), {}, stage_two); }).find("divided already"),
              std::string::npos);
    parallel::DistributedDataParallel ddp(net);
    EXPECT_NE(error_of([&] { (void)ddp(ones({1, 5}, device)); }).find("shard_gradients"), std::string::npos);
    net(ones({1, 5}, device)).sum().backward();
    EXPECT_NE(error_of([&] {
                net(ones({1, 5}, device)).pow(2).sum().backward({}, {.create_graph = true});
              }).find("has a history"),
              std::string::npos);
    net.first.weight.grad() = ones({3, 3}, device);
    EXPECT_NE(error_of([&] { sharded.step(); }).find("the gradient of parameter 0 has sizes [3, 3]"), std::string::npos);
    net.first.weight.grad() = zeros({7, 5}, device);  // a whole one will do
    sharded.step();
    net.frozen.requires_grad_();
    EXPECT_NE(error_of([&] { sharded.step(); }).find("requires a gradient now"), std::string::npos);
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
INSTANTIATE_TEST_SUITE_P(Processes, ZeroRedundancy, worlds_of_processes(), world_name);
INSTANTIATE_TEST_SUITE_P(Ranks, ZeroRedundancyStates, every_world(), world_name);

}  // namespace
}  // namespace tandem::testing
