// FullyShardedDataParallel: the training of one device with the whole batch, with parameters that are whole only while they are used.
#include "parallel/fully_sharded.h"

#include <filesystem>
#include <fstream>

#include "nn/utils.h"
#include "optim/grad_scaler.h"
#include "parallel/ranks.h"

namespace tandem::testing {
namespace {

namespace dist = distributed;
using parallel::FullyShardedDataParallel;

class FullySharded : public OnRanks {};
/// Those in which a run of ranks leaves something for the next one.
class FullyShardedStates : public OnRanks {};

nn::Sequential network(uint64_t seed = 5) {
  return seeded(seed, [] {
    return nn::Sequential(nn::Linear(6, 80), nn::LayerNorm({80}), nn::Tanh(), nn::Linear(80, 80), nn::Tanh(), nn::Linear(80, 80),
                          nn::ReLU(), nn::Linear(80, 2));
  });
}

TEST_P(FullySharded, TrainsAsOneDeviceDoes) {
  run([&](int rank, Device device) {
    nn::Sequential net = network(static_cast<uint64_t>(rank)), reference = network(0);  // made alike by rank 0
    net.to(device);
    reference.to(device);
    FullyShardedDataParallel fsdp(net);
    EXPECT_LE(fsdp.local_parameter_bytes(), 4 * (reference.num_parameters() / world()) + 4096);
    optim::Adam adam(fsdp.parameters(), {.lr = 0.01, .eps = 1e-4}), whole(reference.parameters(), {.lr = 0.01, .eps = 1e-4});
    const Tensor x = seeded_randn(3, {12, 6}, device), y = seeded_randn(4, {12, 2}, device);
    for (int step = 0; step < 4; ++step) {
      fsdp.zero_grad();
      whole.zero_grad();
      const Tensor loss = mse_loss(fsdp(share(x)), share(y));
      loss.backward();
      mse_loss(reference(x), y).backward();
      adam.step();
      whole.step();
    }
    const StateDict state = fsdp.full_state_dict(), expected = reference.state_dict();
    EXPECT_EQ(state.keys(), expected.keys());
    for (const auto& [name, value] : expected) EXPECT_TRUE(allclose(state.at(name), value, 1e-3, 1e-4)) << name;
    fsdp.eval();
    const NoGradGuard no_grad;
    EXPECT_TRUE(allclose(fsdp(x), reference(x), 1e-3, 1e-3));
  });
}

TEST_P(FullySharded, GradientsAddUpOverBackwards) {
  run([&](int rank, Device device) {
    nn::Sequential net = network();
    net.to(device);
    nn::Sequential reference = nn::clone(net);
    FullyShardedDataParallel fsdp(net);
    const Tensor x = ones({1, 6}, device);
    for (int step = 0; step < 2; ++step) {
      (fsdp(x * (rank + 1)) + fsdp(x)).sum().backward();  // two forwards, one backward
      for (int r = 0; r < world(); ++r) ((reference(x * (r + 1)) + reference(x)).sum() / world()).backward();
    }
    Tensor sum = zeros({}, device), expected = zeros({}, device);
    for (const Tensor& shard : fsdp.parameters()) sum = sum + shard.grad().pow(2).sum();
    dist::all_reduce(sum);
    for (const Tensor& parameter : reference.parameters()) expected = expected + parameter.grad().pow(2).sum();
    EXPECT_TRUE(allclose(sum, expected, 1e-3, 1e-3));
    EXPECT_TRUE(allclose(fsdp.clip_grad_norm_(1e-3), sqrt(expected), 1e-3, 1e-3));
    Tensor after = zeros({}, device);
    for (const Tensor& shard : fsdp.parameters()) after = after + shard.grad().pow(2).sum();
    dist::all_reduce(after);
    EXPECT_NEAR(sqrt(after).item<double>(), 1e-3, 1e-5);
  });
}

TEST_P(FullySharded, AScalerSkipsOnAllRanksOrOnNone) {
  run([&](int rank, Device device) {
    nn::Sequential net = network();
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    optim::SGD sgd(fsdp.parameters(), {.lr = 0.1});
    amp::GradScaler scaler({.init_scale = 64, .growth_interval = 100});
    EXPECT_NE(error_of([&] { scaler.step(sgd); }).find("no parameter of it has a gradient"), std::string::npos);
    scaler = amp::GradScaler({.init_scale = 64, .growth_interval = 100});
    for (int step = 0; step < 3; ++step) {
      const StateDict before = fsdp.full_state_dict();
      sgd.zero_grad();
      scaler.scale(fsdp(ones({1, 6}, device)).sum()).backward();
      if (step == 1 && rank == world() - 1) fsdp.parameters()[0].grad().fill_(step % 2 ? INFINITY : NAN);
      if (step == 2) scaler.unscale_(sgd);
      EXPECT_EQ(scaler.step(sgd), step != 1);
      scaler.update();
      EXPECT_EQ(scaler.get_scale(), step == 0 ? 64 : 32);
      EXPECT_EQ(equal(fsdp.full_state_dict().at("0.weight"), before.at("0.weight")), step == 1);
    }
  });
}

TEST_P(FullySharded, TheUsualLoopClipsByOneNormAndForgetsByModuleToo) {
  run([&](int, Device device) {
    for (const bool by_module : {true, false})
      for (const bool set_to_none : {true, false}) {
        nn::Sequential net = network();
        net.to(device);
        nn::Sequential reference = nn::clone(net);
        FullyShardedDataParallel fsdp(net);
        optim::SGD sgd(fsdp.parameters(), {.lr = 0.1}), whole(reference.parameters(), {.lr = 0.1});
        for (int step = 0; step < 3; ++step) {
          for (int part = 0; part < 2; ++part) {
            const Tensor x = seeded_randn(static_cast<uint64_t>(10 * step + part), {12, 6}, device);
            fsdp(share(x)).pow(2).mean().backward();
            reference(x).pow(2).mean().backward();
          }
          const double type = step == 0 ? 2 : step == 1 ? 1 : INFINITY;
          const Tensor expected = nn::utils::clip_grad_norm_(reference.parameters(), 0.05, type);
          // Of the shards, and of the module's parameters, whose gradients are parts of them.
          const auto parameters = step == 1 ? net.parameters() : fsdp.parameters();
          EXPECT_TRUE(allclose(nn::utils::clip_grad_norm_(parameters, 0.05, type), expected, 1e-3, 1e-4));
          sgd.step();
          whole.step();
          if (by_module) net.zero_grad(set_to_none);
          else sgd.zero_grad(set_to_none);
          whole.zero_grad();
        }
        const StateDict state = fsdp.full_state_dict();
        for (const auto& [name, value] : reference.state_dict()) EXPECT_TRUE(allclose(state.at(name), value, 1e-3, 1e-4)) << name;
      }
  });
}

TEST_P(FullySharded, ABackwardThatFailsLeavesNothingBehind) {
  run([&](int rank, Device device) {
    nn::Sequential net = network();
    net.to(device);
    nn::Sequential reference = nn::clone(net);
    FullyShardedDataParallel fsdp(net);
    const Tensor x = ones({1, 6}, device).requires_grad_();
    const auto hook = x.register_hook([](const Tensor& gradient) -> Tensor { return gradient.view({-1}); });
    EXPECT_NE(error_of([&] { fsdp(x * (rank + 1)).sum().backward(); }).find("changed the size"), std::string::npos);
    x.remove_hook(hook);
    fsdp.zero_grad();
    fsdp(x).sum().backward();
    reference(x).sum().backward();
    EXPECT_TRUE(allclose(fsdp.clip_grad_norm_(1e9), nn::utils::clip_grad_norm_(reference.parameters(), 1e9), 1e-3, 1e-3));
  });
}

TEST_P(FullySharded, GradientsOfGradientsAreRefused) {
  run([&](int, Device device) {
    nn::Sequential net = network();
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    const Tensor x = ones({1, 6}, device).requires_grad_();
    const Tensor out = fsdp(x).sum();
    EXPECT_NE(error_of([&] { (void)grad({out}, {x}, {.create_graph = true}); }).find("create_graph and parameters in shards"),
              std::string::npos);
    fsdp(x).sum().backward();
    EXPECT_TRUE(fsdp.parameters()[0].grad().defined());
  });
}

TEST_P(FullySharded, WhatIsTrainedIsSaidWhenItIsMade) {
  run([&](int, Device device) {
    nn::Sequential net = network();
    net.at<nn::Linear>(0).requires_grad_(false);
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    const auto say = [&] { return error_of([&] { (void)fsdp(ones({1, 6}, device)); }); };
    net.at<nn::Linear>(0).weight.requires_grad_();
    EXPECT_NE(say().find("'0.weight' requires a gradient now"), std::string::npos);
    net.at<nn::Linear>(0).weight.requires_grad_(false);
    net.at<nn::Linear>(3).bias.requires_grad_(false);
    EXPECT_NE(say().find("'3.bias' requires no gradient any more"), std::string::npos);
    net.at<nn::Linear>(3).bias.requires_grad_();
    fsdp(ones({1, 6}, device)).sum().backward();
  });
}

struct EitherOrder : nn::Module {
  nn::Linear a{70, 70}, b{70, 70};
  bool a_first = true;
  void fields(nn::Fields& f) override {
    f("a", a);
    f("b", b);
  }
  Tensor forward(const Tensor& x) override { return a_first ? b(a(x)) : a(b(x)); }
};

TEST_P(FullySharded, UnitsOfOneSizeInAnotherOrderAreAnErrorThatNamesBoth) {
  run([&](int rank, Device device) {
    EitherOrder net;
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    net.a_first = rank == 0;
    const std::string text = error_of([&] {
      const Tensor out = fsdp(ones({1, 70}, device));
      (void)out.cpu();
      if (device.is_cuda()) cuda::synchronize(device);
    });
    EXPECT_NE(text.find("ranks differ"), std::string::npos) << text;
    EXPECT_NE(text.find("'FullyShardedDataParallel 1: a.flat_param' at "), std::string::npos) << text;
    EXPECT_NE(text.find("'FullyShardedDataParallel 1: b.flat_param' at "), std::string::npos) << text;
  });
}

struct Mixed : nn::Module {
  nn::Embedding words{30, 150};
  nn::Linear half{150, 150, {.dtype = kFloat16}};
  nn::Linear frozen{150, 150}, unused{80, 80}, out{150, 30, {.bias = false}};
  Tensor scale = ones({150}, {.requires_grad = true});
  nn::BatchNorm1d norm{150};
  Mixed() {
    out.weight = words.weight;
    frozen.requires_grad_(false);
  }
  void fields(nn::Fields& f) override {
    f("words", words);
    f("half", half);
    f("frozen", frozen);
    f("unused", unused);
    f("out", out);
    f("scale", scale);
    f("norm", norm);
  }
  Tensor forward(const Tensor& x) override { return out(tanh(norm(frozen(half(words(x).to(kFloat16)).to(kFloat32) * scale)))); }
};

TEST_P(FullySharded, TiedFrozenUnusedAndHalfPrecisionParametersTakePart) {
  run([&](int, Device device) {
    Mixed net = seeded(1, [] { return Mixed(); });
    net.to(device);
    Mixed reference = nn::clone(net);
    FullyShardedDataParallel fsdp(net);
    optim::SGD sgd(fsdp.parameters(), {.lr = 0.1}), whole(reference.parameters(), {.lr = 0.1});
    const Tensor x = arange(12).remainder(30).to(device);
    for (int step = 0; step < 2; ++step) {
      fsdp.zero_grad();
      whole.zero_grad();
      fsdp(x).pow(2).mean().backward();
      reference(x).pow(2).mean().backward();
      sgd.step();
      whole.step();
    }
    const StateDict state = fsdp.full_state_dict();
    for (const auto& [name, value] : reference.state_dict())
      EXPECT_TRUE(allclose(state.at(name).to(kFloat64), value.to(kFloat64), 1e-2, 1e-3)) << name;
  });
}

TEST_P(FullySharded, ATransformerIsGatheredLayerByLayer) {
  run([&](int, Device device) {
    nn::TransformerEncoder net = seeded(1, [] {
      return nn::TransformerEncoder(nn::TransformerEncoderLayer(16, 2, {.dim_feedforward = 64, .dropout = 0, .batch_first = true}), 3);
    });
    net.to(device);
    auto reference = nn::clone(net);
    FullyShardedDataParallel fsdp(
        net, {.is_unit = [](const nn::ModuleBase& part) { return dynamic_cast<const nn::TransformerEncoderLayer*>(&part) != nullptr; }});
    EXPECT_EQ(fsdp.parameters().size(), 3u);
    const Tensor x = seeded_randn(2, {2, 5, 16}, device).requires_grad_();
    fsdp(x).pow(2).sum().backward();
    const Tensor gradient = std::exchange(x.grad(), Tensor());
    reference(x).pow(2).sum().backward();
    EXPECT_TRUE(allclose(gradient, x.grad(), 1e-3, 1e-3));
  });
}

TEST_P(FullyShardedStates, StatesAreLoadedWholeAndInShards) {
  const std::string folder = str("shards_", GetParam().size, GetParam().on_gpus);
  std::filesystem::remove_all(folder);
  StateDict saved;
  run([&](int rank, Device device) {
    nn::Sequential net = network(8);
    net.push_back(nn::BatchNorm1d(2));
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    (void)fsdp(randn({4, 6}).to(device));
    fsdp.save_shards(folder);
    StateDict whole;
    for (const auto& [name, value] : fsdp.full_state_dict()) whole[name] = value.cpu();
    if (rank == 0) saved = whole;
  });
  EXPECT_TRUE(std::filesystem::exists(folder + "/index.tsv"));
  for (const int ranks : {1, GetParam().size + 1}) {
    dist::run_ranks(ranks, [&](int) {
      nn::Sequential net = network(1);
      net.push_back(nn::BatchNorm1d(2));
      FullyShardedDataParallel fsdp(net);
      fsdp.load_shards(folder);
      for (const auto& [name, value] : fsdp.full_state_dict()) EXPECT_TRUE(equal(value, saved.at(name))) << name;
      nn::Sequential other = network(2);
      other.push_back(nn::BatchNorm1d(2));
      FullyShardedDataParallel again(other);
      again.load_full_state_dict(saved);
      for (const auto& [name, value] : again.full_state_dict()) EXPECT_TRUE(equal(value, saved.at(name))) << name;
      StateDict less = saved;
      less.erase("0.weight");
      EXPECT_NE(error_of([&] { again.load_full_state_dict(less); }).find("there is no '0.weight'"), std::string::npos);
    });
  }
  std::ofstream(folder + "/index.tsv") << "a line that is none\n";
  dist::run_ranks(1, [&](int) {
    nn::Sequential net = network(1);
    FullyShardedDataParallel fsdp(net);
    EXPECT_NE(error_of([&] { fsdp.load_shards(folder); }).find("line 1"), std::string::npos);
    EXPECT_NE(error_of([&] { fsdp.load_shards("nowhere"); }).find("nowhere"), std::string::npos);
  });
}

TEST_P(FullySharded, ParametersHaveNoValuesOutsideOfCalls) {
  run([&](int, Device device) {
    nn::Sequential net = network();
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    const Tensor weight = net.at<nn::Linear>(3).weight;
    EXPECT_EQ(weight.sizes(), (Shape{80, 80}));
    for (const auto& use :
         std::vector<std::function<void()>>{[&] { (void)(weight + 1); }, [&] { (void)weight.sum(); },
                                            [&] {
                                              (void)net(ones({1, 6}, device));
                                            },
                                            [&] { (void)weight.cpu().clone(); }, [&] { FullyShardedDataParallel again(net); }})
      EXPECT_NE(error_of(use).find("in shards"), std::string::npos);
  });
  nn::Linear net(2, 2);
  EXPECT_NE(error_of([&] { FullyShardedDataParallel alone(net); }).find("init_process_group"), std::string::npos);
}

TEST_P(FullySharded, AStepBetweenForwardAndBackwardIsFound) {
  run([&](int, Device device) {
    nn::Sequential net = network();
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    const Tensor loss = fsdp(ones({2, 6}, device)).sum();
    {
      const NoGradGuard no_grad;
      for (const Tensor& shard : fsdp.parameters()) shard.add_(1);
    }
    EXPECT_NE(error_of([&] { loss.backward(); }).find("modified by an inplace operation"), std::string::npos);
    fsdp(ones({2, 6}, device)).sum().backward();  // and what is left of it disturbs nobody
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, FullySharded, every_world(), world_name);
INSTANTIATE_TEST_SUITE_P(Processes, FullySharded, worlds_of_processes(), world_name);
INSTANTIATE_TEST_SUITE_P(Ranks, FullyShardedStates, every_world(), world_name);

}  // namespace
}  // namespace tandem::testing
