// Parameters in shards that are in no module: what FullyShardedDataParallel for C++ and for Python are built on.
#include "parallel/flat_shards.h"

#include <numeric>

#include "parallel/ranks.h"

namespace tandem::testing {
namespace {

using distributed::ReduceOp;
using parallel::detail::FlatLayout;
using parallel::detail::FlatShards;

TEST(FlatLayout, DividesEveryElementOnce) {
  const std::vector<int64_t> numels{5, 0, 17, 1, 64};
  for (const int64_t alignment : {1, 4, 16})
    for (const int64_t share_alignment : {1, 16})
      for (const int ranks : {1, 2, 3, 7}) {
        const FlatLayout layout(numels, alignment, share_alignment, ranks);
        EXPECT_EQ(layout.share() % share_alignment, 0);
        EXPECT_GE(layout.length(), layout.offset(4) + 64);
        for (size_t i = 0; i < numels.size(); ++i) {
          EXPECT_EQ(layout.offset(i) % alignment, 0);
          int64_t next = 0;
          for (int rank = 0; rank < ranks; ++rank) {
            const auto [begin, place, count] = layout.part(i, rank);
            if (count == 0) continue;
            EXPECT_EQ(begin, next);
            EXPECT_EQ(layout.share() * rank + place, layout.offset(i) + begin);
            EXPECT_LE(place + count, layout.share());
            next += count;
          }
          EXPECT_EQ(next, numels[i]);
        }
      }
}

TEST(FlatLayout, HasNoElementBetweenTensorsThatNeedNoAlignment) {
  const FlatLayout layout(std::vector<int64_t>{3, 4}, 1, 1, 2);
  EXPECT_EQ(layout.offset(1), 3);
  EXPECT_EQ(layout.share(), 4);
  const auto [begin, place, count] = layout.part(1, 0);
  EXPECT_EQ(begin, 0);
  EXPECT_EQ(place, 3);
  EXPECT_EQ(count, 1);
}

class FlatShardsOf : public OnRanks {
 protected:
  static FlatShards make(Device device, DType dtype = kFloat32, bool divided = true) {
    return {FlatLayout(std::vector<int64_t>{2, 3}, 1, 1, divided ? world() : 1), {"test", {}, dtype, device}};
  }
  /// What all ranks' ranges are together where each has its number, and then some.
  static std::vector<double> numbers(const FlatShards& shards, double more) {
    std::vector<double> all;
    for (int rank = 0; rank < shards.layout().ranks(); ++rank)
      for (int64_t i = 0; i < shards.layout().share(); ++i) all.push_back(rank + more);
    return all;
  }
};

TEST_P(FlatShardsOf, ValuesComeAndGo) {
  run([&](int rank, Device device) {
    FlatShards shards = make(device);
    const Tensor local = full({shards.layout().share()}, rank, device);
    const Tensor view = shards.whole().narrow(0, 1, 2);
    EXPECT_FALSE(shards.has_values());
    EXPECT_THROW((void)(shards.whole() + 1), Error);
    EXPECT_TRUE(shards.gather(local, Site::here()));
    expect_near(shards.whole(), numbers(shards, 0), 0);
    expect_near(view, {numbers(shards, 0)[1], numbers(shards, 0)[2]}, 0);
    EXPECT_FALSE(shards.gather(local, Site::here()));
    shards.release();
    EXPECT_FALSE(shards.has_values());
    EXPECT_THROW((void)(view + 1), Error);
    // Ahead, beside other work.
    shards.begin_gather(local, Site::here());
    shards.begin_gather(local, Site::here());
    EXPECT_TRUE(shards.is_coming());
    EXPECT_FALSE(shards.has_values());
    EXPECT_TRUE(shards.gather(local, Site::here()));
    EXPECT_FALSE(shards.is_coming());
    expect_near(shards.whole(), numbers(shards, 0), 0);
  });
}

TEST_P(FlatShardsOf, WhatWasGatheredBeforeAChangeIsOutOfDate) {
  run([&](int rank, Device device) {
    FlatShards shards = make(device);
    const Tensor local = full({shards.layout().share()}, rank, device);
    (void)shards.gather(local, Site::here());
    local.add_(1);
    EXPECT_TRUE(shards.gather(local, Site::here()));
    expect_near(shards.whole(), numbers(shards, 1), 0);
    shards.release();
    shards.begin_gather(local, Site::here());
    local.data().add_(1);  // which backward does not find out
    EXPECT_TRUE(shards.gather(local, Site::here()));
    expect_near(shards.whole(), numbers(shards, 2), 0);
    shards.release();
    shards.begin_gather(local, Site::here());
    shards.drop(Site::here());
    EXPECT_FALSE(shards.is_coming());
  });
}

TEST_P(FlatShardsOf, ABackwardThatNeedsTheValuesOfBeforeAStepIsAnError) {
  run([&](int rank, Device device) {
    FlatShards shards = make(device);
    const Tensor local = full({shards.layout().share()}, rank, device), x = ones({shards.layout().length()}, device).requires_grad_();
    (void)shards.gather(local, Site::here());
    const Tensor same = (x * shards.whole()).sum();
    shards.release();
    (void)shards.gather(local, Site::here());
    same.backward();
    expect_near(x.grad(), numbers(shards, 0), 0);
    const Tensor y = (x * shards.whole()).sum();
    shards.release();
    local.add_(1);
    (void)shards.gather(local, Site::here());
    EXPECT_THROW(y.backward(), Error);
  });
}

TEST_P(FlatShardsOf, ComputesInAnotherDTypeThanItKeeps) {
  run([&](int rank, Device device) {
    for (const bool divided : {true, false}) {
      FlatShards shards = make(device, kBFloat16, divided);
      EXPECT_EQ(shards.rank(), divided ? rank : 0);
      const Tensor local = full({shards.layout().share()}, divided ? rank : 0);
      (void)shards.gather(local, Site::here());
      EXPECT_EQ(shards.whole().dtype(), kBFloat16);
      EXPECT_EQ(shards.whole().device(), device);
      expect_near(shards.whole(), numbers(shards, 0), 0);
    }
  });
}

TEST_P(FlatShardsOf, ReducesToItsRange) {
  run([&](int rank, Device device) {
    for (const bool divided : {true, false}) {
      FlatShards shards = make(device, kFloat32, divided);
      EXPECT_THROW((void)shards.finish_reduce(Site::here()), Error);
      const Tensor all = arange(shards.layout().length(), {.dtype = kFloat32, .device = device}) * (rank + 1);
      shards.begin_reduce(all, ReduceOp::AVG, Site::here());
      EXPECT_TRUE(shards.is_reducing());
      const Tensor range = shards.finish_reduce(Site::here());
      EXPECT_FALSE(shards.is_reducing());
      std::vector<double> expected(static_cast<size_t>(shards.layout().share()));
      std::iota(expected.begin(), expected.end(), static_cast<double>(shards.layout().share() * shards.rank()));
      for (double& value : expected) value *= (world() + 1) / 2.0;
      expect_near(range, expected, 1e-4);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, FlatShardsOf, every_world(), world_name);

}  // namespace
}  // namespace tandem::testing
