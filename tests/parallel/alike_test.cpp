// What ranks hold alike, or whole, besides parameters: running figures, optimizers' states in shards. The table of
// tests/fuzz/wrappers tries these with everything else; here each stands alone.
#include <filesystem>

#include "parallel/fully_sharded.h"
#include "parallel/ranks.h"

namespace tandem::testing {
namespace {

namespace dist = distributed;
using parallel::FullyShardedDataParallel;

class Alike : public OnRanks {
 protected:
  static void expect_same_everywhere(const std::vector<Tensor>& tensors) {
    for (const Tensor& mine : tensors)
      for (const Tensor& other : dist::all_gather(mine.detach().cpu().contiguous())) EXPECT_TRUE(equal(other, mine.cpu()));
  }
};

TEST_P(Alike, RunningFiguresInShardsAreThoseOfRankZero) {
  run([&](int rank, Device device) {
    nn::Sequential net(nn::Linear(4, 3), nn::BatchNorm1d(3));
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    const Tensor x = seeded_randn(static_cast<uint64_t>(rank), {6, 4}, device);
    for (int step = 0; step < 2; ++step) fsdp(x).sum().backward();
    const StateDict state = fsdp.full_state_dict();
    expect_same_everywhere({state.at("1.running_mean"), state.at("1.running_var")});
    fsdp(x).sum().backward();
    fsdp.eval();
    (void)fsdp(x);  // after training the figures are sent once more
    expect_same_everywhere(net.buffers());
    EXPECT_EQ(net.at<nn::BatchNorm1d>(1).num_batches_tracked.item<int64_t>(), 3);
  });
}

TEST_P(Alike, RunningFiguresFollowRankZeroAfterQuietForwards) {
  run([&](int rank, Device device) {
    nn::Sequential net(nn::Linear(4, 3), nn::BatchNorm1d(3));
    net.to(device);
    parallel::DistributedDataParallel ddp(net);
    net.eval();
    (void)ddp(ones({2, 4}, device));
    net.train();
    {
      const auto quiet = ddp.no_sync();
      ddp(seeded_randn(static_cast<uint64_t>(rank), {6, 4}, device)).sum().backward();
    }
    net.eval();
    (void)ddp(ones({2, 4}, device));
    expect_same_everywhere(net.buffers());
  });
}

nn::Sequential network(uint64_t seed) {
  return seeded(seed, [] { return nn::Sequential(nn::Linear(6, 80), nn::Tanh(), nn::Linear(80, 80), nn::Tanh(), nn::Linear(80, 2)); });
}

TEST_P(Alike, TheStateOfAnOptimizerOfShardsIsWholeAndGoesOntoAnyNumberOfRanks) {
  const Tensor x = seeded_randn(3, {12, 6}), y = seeded_randn(4, {12, 2});
  const auto step = [](auto& module, auto& optimizer, const Tensor& in, const Tensor& out) {
    optimizer.zero_grad();
    mse_loss(module(in), out).backward();
    optimizer.step();
  };
  nn::Sequential reference = network(0);
  optim::Adam whole(reference.parameters(), {.lr = 0.01, .eps = 1e-4});
  for (int i = 0; i < 2; ++i) step(reference, whole, x, y);
  StateDict model, state;
  run([&](int rank, Device device) {
    nn::Sequential net = network(0);
    net.to(device);
    FullyShardedDataParallel fsdp(net);
    optim::Adam adam(fsdp.parameters(), {.lr = 0.01, .eps = 1e-4});
    for (int i = 0; i < 2; ++i) step(fsdp, adam, share(x.to(device)), share(y.to(device)));
    const StateDict parameters = fsdp.full_state_dict(), all = fsdp.optim_state_dict(adam), expected = whole.state_dict();
    EXPECT_EQ(all.size(), expected.size());
    for (const auto& [name, value] : expected) {
      const Tensor* found = all.find(name);
      ASSERT_TRUE(found) << name;
      EXPECT_EQ(found->sizes(), value.sizes()) << name;
      EXPECT_TRUE(allclose(found->to(kFloat64), value.to(kFloat64), 1e-3, 1e-5)) << name;
    }
    if (rank == 0) {
      state = all;
      for (const auto& [name, value] : parameters) model[name] = value.cpu();
    }
    optim::Adam other(net.parameters(), {});
    EXPECT_NE(error_of([&] { (void)fsdp.optim_state_dict(other); }).find("no shard of this module"), std::string::npos);
    EXPECT_NE(error_of([&] { fsdp.load_optim_state_dict(adam, {}); }).find("parameter groups"), std::string::npos);
  });
  optim::Adam one(reference.parameters(), {});
  one.load_state_dict(state);  // into one that is not divided
  step(reference, whole, x, y);
  for (const int ranks : {1, GetParam().size + 1}) {
    dist::run_ranks(ranks, [&](int) {
      nn::Sequential net = network(1);
      FullyShardedDataParallel fsdp(net);
      optim::Adam adam(fsdp.parameters(), {.lr = 1});
      fsdp.load_full_state_dict(model);
      fsdp.load_optim_state_dict(adam, state);
      // All rows on each rank: the mean of all ranks' gradients is that of the whole batch.
      step(fsdp, adam, x, y);
      const StateDict after = fsdp.full_state_dict();
      for (const auto& [name, value] : reference.state_dict()) EXPECT_TRUE(allclose(after.at(name), value, 1e-3, 1e-4)) << name;
    });
  }
}

TEST_P(Alike, TiedParametersAreReadFromShardsOnce) {
  const std::string folder = str("tied_shards_", GetParam().size, GetParam().on_gpus);
  std::filesystem::remove_all(folder);
  run([&](int, Device device) {
    const auto tied = [&] {
      nn::Sequential net(nn::Linear(5, 5), nn::Linear(5, 5));
      net.at<nn::Linear>(1).weight = net.at<nn::Linear>(0).weight;
      net.to(device);
      return net;
    };
    nn::Sequential net = tied(), other = tied();
    FullyShardedDataParallel fsdp(net), again(other);
    fsdp.save_shards(folder);
    again.load_shards(folder);
    for (const auto& [name, value] : fsdp.full_state_dict()) EXPECT_TRUE(equal(again.full_state_dict().at(name), value)) << name;
  });
}

TEST(AlikeOnDevices, StatisticsOfRanksAreRefused) {
  nn::Sequential net(nn::Linear(3, 3), nn::BatchNorm1d(3));
  nn::convert_sync_batchnorm(net);
  net.to(gpu(0));
  parallel::DataParallel both(net, {gpu(0), gpu(1)});
  EXPECT_NE(error_of([&] { (void)both(ones({4, 3}, gpu(0))); }).find("'1' is a SyncBatchNorm"), std::string::npos);
  net.eval();
  EXPECT_EQ(both(ones({4, 3}, gpu(0))).sizes(), (Shape{4, 3}));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Alike, every_world(), world_name);

}  // namespace
}  // namespace tandem::testing
