// DistributedDataParallel on ranks that are threads: gradients of the whole batch, the same bits on all, and what it refuses.
#include "parallel/distributed_data_parallel.h"

#include <cstring>

#include "nn/support.h"
#include "parallel/buckets.h"
#include "parallel/ranks.h"

namespace tandem::testing {
namespace {

namespace dist = distributed;
using parallel::DistributedDataParallel;

class Ddp : public OnRanks {};

nn::Sequential network(uint64_t seed) {
  return seeded(seed, [] { return nn::Sequential(nn::Linear(5, 4), nn::Tanh(), nn::Linear(4, 3), nn::Tanh(), nn::Linear(3, 1)); });
}

TEST(Buckets, AreClosedByTheItemThatFillsThem) {
  using parallel::detail::BucketItem;
  const std::vector<BucketItem> items{{4, 60, kFloat32}, {3, 60, kFloat32}, {2, 30, kFloat16}, {1, 500, kFloat32}, {0, 10, kFloat32}};
  const auto plan = parallel::detail::plan_buckets(items, 100, 400);
  ASSERT_EQ(plan.size(), 4u);
  EXPECT_EQ(plan[0], (std::vector<size_t>{4, 3}));
  EXPECT_EQ(plan[1], (std::vector<size_t>{2}));
  EXPECT_EQ(plan[2], (std::vector<size_t>{1}));
  EXPECT_EQ(plan[3], (std::vector<size_t>{0}));
}

TEST_P(Ddp, GradientsAreThoseOfTheWholeBatch) {
  run([&](int rank, Device device) {
    const Tensor x = seeded_randn(3, {12, 5}, device), y = seeded_randn(4, {12, 1}, device);
    nn::Sequential net = network(50 + static_cast<uint64_t>(rank));  // made alike by rank 0
    net.to(device);
    DistributedDataParallel ddp(net);
    nn::Sequential reference = nn::clone(net);
    optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9}), whole(reference.parameters(), {.lr = 0.1, .momentum = 0.9});
    for (int step = 0; step < 4; ++step) {
      sgd.zero_grad();
      mse_loss(ddp(share(x)), share(y)).backward();
      whole.zero_grad();
      mse_loss(reference(x), y).backward();
      for (size_t i = 0; i < net.parameters().size(); ++i)
        ASSERT_TRUE(allclose(net.parameters()[i].grad(), reference.parameters()[i].grad(), 1e-4, 1e-6)) << step << " " << i;
      sgd.step();
      whole.step();
      expect_same_bits(net);
    }
  });
}

TEST_P(Ddp, ManyBucketsAreRebuiltInTheOrderOfTheFirstBackward) {
  run([&](int rank, Device device) {
    struct Reversed : nn::Module {  // registered in the other order than it is used in
      nn::Linear last{6, 1}, middle{6, 6}, first{5, 6};
      void fields(nn::Fields& f) override {
        f("last", last);
        f("middle", middle);
        f("first", first);
      }
      Tensor forward(const Tensor& x) override { return last(tanh(middle(tanh(first(x))))); }
    };
    Reversed net = seeded(7 + static_cast<uint64_t>(rank), [] { return Reversed(); });
    net.to(device);
    DistributedDataParallel ddp(net, {.bucket_cap_mb = 16e-6});  // a bucket for nearly every parameter
    Reversed reference = nn::clone(net);
    EXPECT_EQ(ddp.bucket_count(), 5u);  // the last bias is too small for one
    const Tensor x = seeded_randn(1, {12, 5}, device);
    for (int step = 0; step < 3; ++step) {  // without zero_grad: sums go over into the new buckets
      ddp(share(x)).mean().backward();
      reference(x).mean().backward();
      for (size_t i = 0; i < net.parameters().size(); ++i)
        ASSERT_TRUE(allclose(net.parameters()[i].grad(), reference.parameters()[i].grad(), 1e-4, 1e-6)) << step << " " << i;
    }
    expect_same_bits(net);
  });
}

TEST_P(Ddp, NoSyncAddsUpAndTheNextBackwardAveragesTheSum) {
  run([&](int rank, Device device) {
    nn::Linear net(2, 1, {.bias = false, .device = device});
    DistributedDataParallel ddp(net);
    const Tensor one = ones({1, 2}, device);
    {
      const auto quiet = ddp.no_sync();
      ddp(one * (rank + 1)).sum().backward();
      expect_near(net.weight.grad(), {rank + 1.0, rank + 1.0});
      ddp(one).sum().backward();
    }
    ddp(one).sum().backward();
    const double average = (world() + 1) / 2.0 + 2;
    expect_near(net.weight.grad(), {average, average}, 1e-5);
    ddp(one).sum().backward();  // added up with what is averaged already
    expect_near(net.weight.grad(), {average + 1, average + 1}, 1e-5);
  });
}

TEST_P(Ddp, WhatIsCalledBetweenForwardAndBackwardLeavesTheAverageAlone) {
  run([&](int rank, Device device) {
    nn::Linear net(2, 1, {.bias = false, .device = device});
    DistributedDataParallel ddp(net);
    const Tensor x = ones({1, 2}, device) * (rank + 1);
    const double average = (world() + 1) / 2.0;
    for (int step = 0; step < 2; ++step) {  // before and after the buckets are made anew
      net.zero_grad();
      const Tensor loss = ddp(x).sum();
      {
        const NoGradGuard no_grad;
        (void)ddp(x);
      }
      loss.backward();
      expect_near(net.weight.grad(), {average, average}, 1e-5);

      net.zero_grad();
      const Tensor first = ddp(x).sum();
      {
        const auto quiet = ddp.no_sync();
        ddp(x * 10).sum().backward();
      }
      expect_near(net.weight.grad(), {10.0 * (rank + 1), 10.0 * (rank + 1)}, 1e-4);
      first.backward();
      expect_near(net.weight.grad(), {11 * average, 11 * average}, 1e-4);
    }
  });
}

TEST_P(Ddp, EachBackwardThatComesThroughAForwardIsAveraged) {
  run([&](int rank, Device device) {
    nn::Linear net(2, 1, {.bias = false, .device = device});
    DistributedDataParallel ddp(net);
    const Tensor x = ones({1, 2}, device) * (rank + 1);
    const double average = (world() + 1) / 2.0;
    for (int step = 0; step < 2; ++step) {
      net.zero_grad();
      const Tensor one = ddp(x), two = ddp(x * 10);  // as of a discriminator: two forwards, then two backwards
      one.sum().backward();
      expect_near(net.weight.grad(), {average, average}, 1e-5);
      two.sum().backward();
      expect_near(net.weight.grad(), {11 * average, 11 * average}, 1e-4);

      net.zero_grad();
      const Tensor both = ddp(x);
      both.sum().backward({}, {.retain_graph = true});  // two losses of one forward
      (both * 2).sum().backward();
      expect_near(net.weight.grad(), {3 * average, 3 * average}, 1e-4);
    }
    expect_same_bits(net);
  });
}

TEST_P(Ddp, AGradientPenaltyIsAveragedToo) {
  run([&](int rank, Device device) {
    nn::Linear net(2, 1, {.bias = false, .device = device});
    DistributedDataParallel ddp(net);
    for (const bool alone : {true, false}) {
      net.zero_grad();
      const Tensor x = (ones({1, 2}, device) * (rank + 1)).requires_grad_();
      const Tensor out = ddp(x).sum() * (rank + 1);
      const Tensor slope = grad({out}, {x}, {.create_graph = true})[0];  // (rank + 1) w
      Tensor loss = slope.sum();
      if (!alone) loss = loss + out;
      loss.backward();
      double expected = 0;
      for (int r = 1; r <= world(); ++r) expected += r + (alone ? 0 : r * r);
      expect_near(net.weight.grad(), {expected / world(), expected / world()}, 1e-4);
    }
  });
}

TEST_P(Ddp, ABackwardThatFailsLeavesTheWrapperUsable) {
  run([&](int rank, Device device) {
    nn::Sequential net = network(3);
    net.to(device);
    DistributedDataParallel ddp(net, {.bucket_cap_mb = 16e-6});
    const Tensor x = seeded_randn(1, {2, 5}, device) * (rank + 1);
    // All buckets but the last one are reduced by then.
    const auto hook = net.parameters()[0].register_hook([](const Tensor& gradient) -> Tensor { return gradient.view({-1}); });
    EXPECT_NE(error_of([&] { ddp(x).sum().backward(); }).find("changed the size"), std::string::npos);
    net.parameters()[0].remove_hook(hook);
    net.zero_grad();
    ddp(x).sum().backward();
    EXPECT_TRUE(net.parameters()[0].grad().defined());
    expect_same_bits(net);
  });
}

struct Branches : nn::Module {
  nn::Linear left{2, 1}, right{2, 1}, never{2, 1};
  bool use_left = true, use_right = true;
  void fields(nn::Fields& f) override {
    f("left", left);
    f("right", right);
    f("never", never);
  }
  Tensor forward(const Tensor& x) override {
    Tensor sum = x.sum();
    if (use_left) sum = sum + left(x).sum();
    if (use_right) sum = sum + right(x).sum();
    return sum;
  }
};

TEST_P(Ddp, UnusedParametersAreFoundAndGetTheOthersGradients) {
  run([&](int rank, Device device) {
    Branches net;
    net.to(device);
    DistributedDataParallel ddp(net, {.find_unused_parameters = true});
    for (int step = 0; step < 3; ++step) {
      net.zero_grad();
      net.use_left = rank == 0;
      net.use_right = rank != 0;
      ddp(ones({1, 2}, device)).backward();
      expect_near(net.left.weight.grad(), {1.0 / world(), 1.0 / world()});
      expect_near(net.right.bias.grad(), {(world() - 1.0) / world()});
      EXPECT_FALSE(net.never.weight.grad().defined());  // so that an optimizer passes it over
    }
    expect_same_bits(net);
  });
}

TEST_P(Ddp, SeveralForwardsOfOneBackwardUseDifferentParameters) {
  run([&](int rank, Device device) {
    Branches net;
    net.to(device);
    DistributedDataParallel ddp(net, {.find_unused_parameters = true});
    const Tensor x = ones({1, 2}, device) * (rank + 1);
    const double average = (world() + 1) / 2.0;
    for (int step = 0; step < 3; ++step) {
      net.zero_grad();
      Tensor sum = zeros({}, device);
      for (const bool left : {true, false}) {
        net.use_left = left;
        net.use_right = !left;
        sum = sum + ddp(x);
      }
      sum.backward();
      expect_near(net.left.weight.grad(), {average, average}, 1e-5);
      expect_near(net.right.weight.grad(), {average, average}, 1e-5);
      EXPECT_FALSE(net.never.weight.grad().defined());
    }
  });
}

TEST_P(Ddp, UnusedParametersAreNamedWhenTheNextForwardStarts) {
  run([&](int rank, Device device) {
    Branches net;
    net.to(device);
    DistributedDataParallel ddp(net);
    net.use_left = false;
    ddp(ones({1, 2}, device)).backward();
    const std::string text = error_of([&] { (void)ddp(ones({1, 2}, device)); });
    EXPECT_NE(text.find("'left.weight', 'left.bias', 'never.weight', 'never.bias'"), std::string::npos) << text;
    EXPECT_NE(text.find(str("on rank ", rank)), std::string::npos) << text;
    EXPECT_NE(text.find("find_unused_parameters"), std::string::npos) << text;
    net.zero_grad();  // told once
    net.use_left = true;
    (void)ddp(ones({1, 2}, device));
  });
}

TEST_P(Ddp, RunningFiguresAreThoseOfRankZero) {
  run([&](int rank, Device device) {
    nn::Sequential net(nn::Linear(4, 3), nn::BatchNorm1d(3));
    net.to(device);
    DistributedDataParallel ddp(net);
    for (int step = 0; step < 2; ++step) ddp(randn({6, 4}).to(device)).sum().backward();
    net.eval();
    (void)ddp(randn({6, 4}).to(device));  // after training the figures are sent once more
    const auto& norm = net.at<nn::BatchNorm1d>(1);
    EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 2);
    for (const Tensor& buffer : net.buffers()) {
      const auto all = dist::all_gather(buffer.cpu());
      for (const Tensor& other : all) EXPECT_TRUE(equal(other, all[0]));
    }
    if (rank == 0) (void)ddp(randn({6, 4}).to(device));  // evaluation alone waits for nobody
  });
}

TEST_P(Ddp, JoinTakesUnevenNumbersOfBatches) {
  run([&](int rank, Device device) {
    nn::Linear net(2, 1, {.bias = false, .device = device});
    DistributedDataParallel ddp(net);
    optim::SGD sgd(net.parameters(), {.lr = 1});
    const Tensor before = net.weight.detach().cpu().clone();
    std::vector<double> seen;
    ddp.join([&] {
      for (int step = 0; step <= rank; ++step) {
        sgd.zero_grad();
        ddp.set_weight(rank + 1);  // so many samples
        ddp(ones({1, 2}, device) * (rank + 1)).sum().backward();
        seen.push_back(net.weight.grad().cpu()[0][0].item<double>());
        sgd.step();
      }
    });
    // In round s ranks s, s + 1, … are at work: the mean of r + 1, weighted with r + 1.
    double moved = 0;
    for (int s = 0; s < world(); ++s) {
      double sum = 0, weights = 0;
      for (int r = s; r < world(); ++r) {
        sum += (r + 1.0) * (r + 1);
        weights += r + 1;
      }
      moved += sum / weights;
      if (s <= rank) {
        EXPECT_NEAR(seen.at(static_cast<size_t>(s)), sum / weights, 1e-5) << s;
      }
    }
    EXPECT_NEAR((before - net.weight.detach().cpu())[0][0].item<double>(), moved, 1e-4);  // on all of them
    expect_same_bits(net);
    EXPECT_NE(error_of([&] { ddp.set_weight(2); }).find("join()"), std::string::npos);
    ddp(ones({1, 2}, device)).sum().backward();  // as before the join
    expect_same_bits(net);
  });
}

struct Pair : nn::Callable<Pair> {
  nn::Linear a{2, 2}, b{2, 2};
  void fields(nn::Fields& f) override {
    f("a", a);
    f("b", b);
  }
  std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& y, double factor) { return {a(x) * factor, b(y)}; }
};

TEST_P(Ddp, TakesAnySignature) {
  run([&](int rank, Device device) {
    Pair net;
    net.to(device);
    DistributedDataParallel ddp(net, {.find_unused_parameters = true});
    const Tensor x = ones({1, 2}, device);
    const auto [first, second] = ddp(x, x * (rank + 1), 3.0);
    (first.sum() + second.sum()).backward();
    const double average = (world() + 1) / 2.0;
    expect_near(net.a.weight.grad(), {3, 3, 3, 3}, 1e-5);
    expect_near(net.b.weight.grad(), {average, average, average, average}, 1e-5);
    EXPECT_EQ(ddp.state_dict().keys()[0], "module.a.weight");
  });
}

TEST_P(Ddp, TiedAndHalfPrecisionParametersTakePart) {
  run([&](int rank, Device device) {
    nn::Linear a(3, 3, {.bias = false, .device = device}), b(3, 3, {.bias = false, .device = device}), half(3, 3, {.device = device});
    b.weight = a.weight;
    half.to(kFloat16);
    struct Tied : nn::Module {
      nn::Linear a, b, half;
      Tied(nn::Linear& a, nn::Linear& b, nn::Linear& half) : a(a), b(b), half(half) {}
      void fields(nn::Fields& f) override {
        f("a", a);
        f("b", b);
        f("half", half);
      }
      Tensor forward(const Tensor& x) override { return half(b(a(x)).to(kFloat16)).sum(); }
    } net(a, b, half);
    DistributedDataParallel ddp(net);
    EXPECT_EQ(net.parameters().size(), 3u);
    EXPECT_EQ(ddp.bucket_count(), 2u);
    for (int step = 0; step < 2; ++step) ddp(ones({2, 3}, device) * (rank + 1)).backward();
    expect_same_bits(net);
    EXPECT_EQ(net.half.weight.grad().dtype(), kFloat16);
  });
}

TEST_P(Ddp, SaysWhatIsWrong) {
  run([&](int rank, Device device) {
    const auto has = [](const std::string& text, const char* part) { EXPECT_NE(text.find(part), std::string::npos) << text; };
    nn::Sequential odd(nn::Linear(2, 3), nn::Linear(3, rank == 1 ? 5 : 4));
    odd.to(device);
    has(error_of([&] { DistributedDataParallel ddp(odd); }),
        "parameter '1.weight' is float32 [4, 3] on rank 0, but float32 [5, 3] on rank 1");
    nn::Sequential longer(nn::Linear(2, 2));
    if (rank == 1) longer.push_back(nn::Linear(2, 2));
    longer.to(device);
    has(error_of([&] { DistributedDataParallel ddp(longer); }), "2 parameters on rank 0, but 4 on rank 1");
    nn::Linear frozen(2, 2, {.device = device});
    frozen.requires_grad_(false);
    has(error_of([&] { DistributedDataParallel ddp(frozen); }), "no parameter that requires a gradient");
    nn::LazyLinear lazy(2);
    has(error_of([&] { DistributedDataParallel ddp(lazy); }), "run a first forward");
    nn::Linear net(2, 2, {.device = device});
    DistributedDataParallel ddp(net);
    has(error_of([&] { DistributedDataParallel again(net); }), "'weight' are averaged by another DistributedDataParallel");
    has(error_of([&] { DistributedDataParallel<decltype(ddp)> again(ddp); }), "'module.weight' are averaged by another");
    net.bias.requires_grad_(false);
    has(error_of([&] { (void)ddp(ones({1, 2}, device)); }), "'bias' requires no gradient any more");
    net.bias.requires_grad_();
    has(error_of([&] { ddp(ones({1, 2}, device)).pow(2).sum().backward({}, {.create_graph = true}); }), "create_graph");
    net.zero_grad();  // gradients with a history hold the parameters that hold them
    nn::Sequential spread(nn::Linear(2, 2), nn::Linear(2, 2));
    spread.at<nn::Linear>(1).to(gpu(0));
    has(error_of([&] { DistributedDataParallel split(spread); }), "parameters must be on one device, but '0.weight' is on");
  });
  nn::Linear net(2, 2);
  EXPECT_NE(error_of([&] { DistributedDataParallel alone(net); }).find("init_process_group"), std::string::npos);
}

TEST_P(Ddp, AWrapperThatIsGoneLeavesTheModuleAsItWas) {
  run([&](int rank, Device device) {
    nn::Linear net(2, 1, {.bias = false, .device = device});
    { DistributedDataParallel gone(net); }
    net(ones({1, 2}, device) * (rank + 1)).sum().backward();
    expect_near(net.weight.grad(), {rank + 1.0, rank + 1.0});
    net.zero_grad();
    DistributedDataParallel ddp(net);
    ddp(ones({1, 2}, device) * (rank + 1)).sum().backward();
    expect_near(net.weight.grad(), {(world() + 1) / 2.0, (world() + 1) / 2.0}, 1e-5);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Ddp, every_world(), world_name);
INSTANTIATE_TEST_SUITE_P(Processes, Ddp, worlds_of_processes(), world_name);

}  // namespace
}  // namespace tandem::testing
