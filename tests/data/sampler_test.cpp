// Samplers: which indices, how often, and the same again for the same seed and epoch.
#include "data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using namespace td::data;
using Indices = std::vector<int64_t>;

namespace {

Indices sorted(Indices indices) {
  std::sort(indices.begin(), indices.end());
  return indices;
}

Indices counted(int64_t count) {
  Indices all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// How often each index comes over many epochs.
std::map<int64_t, int> counts(const Sampler& sampler, uint64_t epochs) {
  std::map<int64_t, int> seen;
  for (uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (const int64_t index : sampler.indices(epoch)) ++seen[index];
  return seen;
}

}  // namespace

TEST(Samplers, GoThroughAllInOrderOrNot) {
  EXPECT_EQ(SequentialSampler(5).indices(3), counted(5));
  const RandomSampler random(50, {.seed = 4});
  EXPECT_EQ(random.indices(1), shuffled_indices(50, 4, 1));
  EXPECT_EQ(sorted(random.indices(1)), counted(50));
  const SubsetRandomSampler subset({30, 10, 20}, 1);
  EXPECT_EQ(sorted(subset.indices(0)), (Indices{10, 20, 30}));
  std::set<Indices> orders;
  for (uint64_t epoch = 0; epoch < 100; ++epoch) orders.insert(subset.indices(epoch));
  EXPECT_EQ(orders.size(), 6U);
}

TEST(Samplers, DrawAsManyAsAskedFor) {
  const RandomSampler more(10, {.num_samples = 25});
  const Indices drawn = more.indices(0);
  EXPECT_EQ(more.size(), 25);
  ASSERT_EQ(drawn.size(), 25U);
  EXPECT_EQ(sorted({drawn.begin(), drawn.begin() + 10}), counted(10));
  EXPECT_EQ(sorted({drawn.begin() + 10, drawn.begin() + 20}), counted(10));
  EXPECT_EQ(RandomSampler(10, {.num_samples = 3}).indices(0).size(), 3U);

  const RandomSampler again(10, {.replacement = true, .num_samples = 1000});
  EXPECT_EQ(again.indices(5), again.indices(5));
  EXPECT_NE(again.indices(5), again.indices(6));
  for (const auto& [index, count] : counts(again, 10)) {
    EXPECT_TRUE(index >= 0 && index < 10);
    EXPECT_NEAR(count, 1000, 150);  // deviation 30
  }
}

TEST(Samplers, DrawByWeight) {
  const WeightedRandomSampler sampler({1, 0, 3, 4}, 8000);
  const auto seen = counts(sampler, 1);
  EXPECT_FALSE(seen.contains(1));
  EXPECT_NEAR(seen.at(0), 1000, 150);
  EXPECT_NEAR(seen.at(2), 3000, 225);
  EXPECT_NEAR(seen.at(3), 4000, 225);

  const WeightedRandomSampler once({1, 0, 3, 4}, 3, {.replacement = false});
  std::map<int64_t, int> first;
  for (uint64_t epoch = 0; epoch < 8000; ++epoch) {
    const Indices drawn = once.indices(epoch);
    EXPECT_EQ(sorted(drawn), (Indices{0, 2, 3}));
    ++first[drawn[0]];
  }
  EXPECT_NEAR(first[0], 1000, 150);
  EXPECT_NEAR(first[3], 4000, 225);
}

TEST(Samplers, ShareTheSamplesAmongProcesses) {
  for (const int64_t count : {10, 11, 2}) {
    for (const bool drop : {false, true}) {
      Indices all;
      for (int rank = 0; rank < 3; ++rank) {
        const DistributedSampler sampler(count, 3, rank, {.seed = 5, .drop_last = drop});
        const Indices mine = sampler.indices(2);
        EXPECT_EQ(static_cast<int64_t>(mine.size()), drop ? count / 3 : (count + 2) / 3);
        EXPECT_EQ(static_cast<int64_t>(mine.size()), sampler.size());
        all.insert(all.end(), mine.begin(), mine.end());
      }
      const std::set<int64_t> different(all.begin(), all.end());
      EXPECT_EQ(static_cast<int64_t>(different.size()), drop ? count / 3 * 3 : count);
    }
  }
  // As PyTorch deals them out, the first ones again at the end.
  EXPECT_EQ(DistributedSampler(5, 2, 1, {.shuffle = false}).indices(0), (Indices{1, 3, 0}));
  EXPECT_EQ(DistributedSampler(5, 2, 0, {.shuffle = false, .drop_last = true}).indices(0), (Indices{0, 2}));
  EXPECT_NE(DistributedSampler(50, 1, 0).indices(0), DistributedSampler(50, 1, 0).indices(1));
}

TEST(Samplers, DivideBatchesAmongProcesses) {
  const BatchSampler whole(RandomSampler(11, {.seed = 3}), 4);  // 4, 4, 3
  for (const int ranks : {1, 2, 3, 5}) {
    std::vector<Indices> joined(3);
    std::vector<double> sums(3, 0);
    for (int rank = 0; rank < ranks; ++rank) {
      const DistributedBatchSampler part(whole, ranks, rank);
      EXPECT_EQ(part.size(), 3);
      const auto batches = part.batches(1);
      const auto weights = part.weights(1);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_FALSE(batches[i].empty());  // every rank has something to compute
        sums[i] += weights[i] / ranks;
        if (weights[i] > 0) joined[i].insert(joined[i].end(), batches[i].begin(), batches[i].end());
        else EXPECT_EQ(batches[i], Indices{whole.batches(1)[i][0]});
      }
    }
    EXPECT_EQ(joined, whole.batches(1)) << ranks;
    for (const double sum : sums) EXPECT_NEAR(sum, 1, 1e-12);
  }
  EXPECT_EQ(error_of([&] { DistributedBatchSampler none(whole, 2, 2); }),
            "[DistributedBatchSampler] rank 2 is not one of the 2 replicas: 0 to 1");
}

TEST(Samplers, MakeBatches) {
  const BatchSampler all(SequentialSampler(5), 2), full(SequentialSampler(5), 2, true);
  EXPECT_EQ(all.size(), 3);
  EXPECT_EQ(full.size(), 2);
  EXPECT_EQ(all.batches(0), (std::vector<Indices>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(full.batches(0), (std::vector<Indices>{{0, 1}, {2, 3}}));

  DataLoader loader(TensorDataset({td::arange(10)}), {.batch_sampler = BatchSampler(SubsetRandomSampler({7, 3, 5}), 2)});
  Indices seen;
  for (const Batch& batch : loader)
    for (int64_t i = 0; i < batch.size(); ++i) seen.push_back(batch.input()[i].item<int64_t>());
  EXPECT_EQ(sorted(seen), (Indices{3, 5, 7}));
  DataLoader sampled(TensorDataset({td::arange(10)}), {.batch_size = 4, .sampler = RandomSampler(10, {.num_samples = 6})});
  EXPECT_EQ(sampled.size(), 2);
}

TEST(Samplers, RefuseWhatCannotBeDrawn) {
  EXPECT_EQ(error_of([] { RandomSampler sampler(0, {.num_samples = 3}); }),
            "[RandomSampler] num_samples is 3, but there are no samples to draw from");
  EXPECT_NE(error_of([] { RandomSampler sampler(-1); }), "no error");
  EXPECT_EQ(error_of([] {
              WeightedRandomSampler sampler({1, -2}, 1);
            }),
            "[WeightedRandomSampler] weight 1 is -2: weights must be finite and not negative");
  EXPECT_NE(error_of([] { WeightedRandomSampler sampler({0, 0}, 1); }), "no error");
  EXPECT_NE(error_of([] { WeightedRandomSampler sampler({1, 0}, 2, {.replacement = false}); }), "no error");
  EXPECT_EQ(error_of([] { DistributedSampler sampler(5, 2, 2); }), "[DistributedSampler] rank 2 is not one of the 2 replicas: 0 to 1");
  EXPECT_NE(error_of([] { BatchSampler sampler(SequentialSampler(3), 0); }), "no error");
}
