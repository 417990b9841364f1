// SyncBatchNorm on ranks with batches of different sizes: the results and gradients of one device with the whole batch.
#include "nn/sync_batch_norm.h"

#include "parallel/ranks.h"

namespace tandem::testing {
namespace {

namespace dist = distributed;

class SyncBatchNorm : public OnRanks {};

/// Rows of each rank: rank r has r + 1 of them.
Tensor uneven_share(const Tensor& x) {
  const int64_t rank = dist::get_rank();
  return x.narrow(0, rank * (rank + 1) / 2, rank + 1);
}

TEST_P(SyncBatchNorm, IsABatchNormOfTheWholeBatch) {
  run([&](int, Device device) {
    for (const Shape& inner : {Shape{3}, Shape{3, 4}, Shape{3, 2, 5}}) {
      const int64_t rows = world() * (world() + 1) / 2;
      Shape sizes{rows};
      for (const int64_t size : inner) sizes.push_back(size);
      const Tensor whole = seeded_randn(2, sizes, device) * 3 + 100, weights = seeded_randn(3, sizes, device);
      nn::SyncBatchNorm norm(3, {.device = device});
      nn::BatchNorm1d one(3, {.device = device});
      const Tensor x = uneven_share(whole).clone().requires_grad_(), reference = whole.clone().requires_grad_();
      const Tensor expected = one(reference.reshape({rows, 3, -1}));
      for (int step = 0; step < 2; ++step) {
        const Tensor y = norm(x);
        EXPECT_TRUE(allclose(y.reshape({y.size(0), 3, -1}), uneven_share(expected), 1e-3, 1e-4));
        if (step == 0) (y * uneven_share(weights)).sum().backward();
      }
      (void)one(reference.reshape({rows, 3, -1}));
      (expected * weights.reshape(expected.sizes())).sum().backward();
      EXPECT_TRUE(allclose(x.grad(), uneven_share(reference.grad()), 1e-3, 1e-4));
      for (const Tensor& gradient : {norm.weight.grad(), norm.bias.grad()}) dist::all_reduce(gradient);  // as their sum is
      EXPECT_TRUE(allclose(norm.weight.grad(), one.weight.grad(), 1e-3, 1e-3));
      EXPECT_TRUE(allclose(norm.bias.grad(), one.bias.grad(), 1e-4, 1e-4));
      EXPECT_TRUE(allclose(norm.running_mean, one.running_mean, 1e-5, 1e-5));
      EXPECT_TRUE(allclose(norm.running_var, one.running_var, 1e-4, 1e-5));
      EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 2);
      norm.eval();
      one.eval();
      EXPECT_TRUE(allclose(norm(x).reshape({-1, 3, whole.numel() / rows / 3}), one(x.reshape({x.size(0), 3, -1})), 1e-4, 1e-4));
    }
  });
}

TEST_P(SyncBatchNorm, AConvertedModuleTrainsAsOneDeviceDoes) {
  run([&](int, Device device) {
    nn::Sequential net = seeded(4, [] {
      return nn::Sequential(nn::Conv2d(2, 3, 3), nn::BatchNorm2d(3), nn::ReLU(), nn::Sequential(nn::Conv2d(3, 2, 3), nn::BatchNorm2d(2)));
    });
    net.to(device);
    nn::Sequential reference = nn::clone(net);
    nn::convert_sync_batchnorm(net);
    EXPECT_EQ(net.at(1).name(), "SyncBatchNorm");
    parallel::DistributedDataParallel ddp(net);
    const Tensor x = seeded_randn(5, {12, 2, 6, 6}, device), y = seeded_randn(6, {12, 2, 2, 2}, device);
    optim::SGD sgd(net.parameters(), {.lr = 0.1}), whole(reference.parameters(), {.lr = 0.1});
    for (int step = 0; step < 3; ++step) {
      sgd.zero_grad();
      whole.zero_grad();
      mse_loss(ddp(share(x)), share(y)).backward();
      mse_loss(reference(x), y).backward();
      sgd.step();
      whole.step();
    }
    for (const auto& [name, value] : reference.state_dict())
      EXPECT_TRUE(allclose(net.state_dict().at(name).to(kFloat64), value.to(kFloat64), 1e-3, 1e-4)) << name;
    expect_same_bits(net);
  });
}

TEST_P(SyncBatchNorm, HalfPrecisionAndNoParametersWork) {
  run([&](int rank, Device device) {
    nn::SyncBatchNorm norm(2, {.affine = false, .track_running_stats = false, .device = device});
    const Tensor x = (full({2, 2}, rank, device) + tensor({{1.0}, {-1.0}}, device)).to(kFloat16).requires_grad_();
    const Tensor y = norm(x);
    EXPECT_EQ(y.dtype(), kFloat16);
    Tensor sum = y.detach().to(kFloat32).sum();
    dist::all_reduce(sum);
    EXPECT_NEAR(sum.item<double>(), 0, 1e-2);
    y.pow(2).sum().backward();
    EXPECT_EQ(x.grad().dtype(), kFloat16);
  });
}

TEST_P(SyncBatchNorm, SaysWhatItCannotDo) {
  run([&](int, Device device) {
    nn::SyncBatchNorm norm(3, {.device = device});
    EXPECT_NE(error_of([&] { (void)norm(ones({3}, device)); }).find("at least 2D"), std::string::npos);
    EXPECT_NE(error_of([&] { (void)norm(ones({2, 4}, device)); }).find("4 channels"), std::string::npos);
    const Tensor x = rand({4, 3}, device).requires_grad_();
    EXPECT_NE(error_of([&] { (void)grad({norm(x).sum()}, {x}, {.create_graph = true}); }).find("not supported"), std::string::npos);
  });
}

TEST(SyncBatchNormAlone, IsABatchNorm) {
  nn::SyncBatchNorm norm(3);
  nn::BatchNorm1d one(3);
  const Tensor x = randn({5, 3});
  EXPECT_TRUE(equal(norm(x), one(x)));
}

INSTANTIATE_TEST_SUITE_P(Ranks, SyncBatchNorm, every_world(), world_name);

}  // namespace
}  // namespace tandem::testing
