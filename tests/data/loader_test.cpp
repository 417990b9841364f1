// DataLoader: how samples become batches, and in which order.
#include "data/loader.h"

#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <numeric>
#include <set>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using td::data::DataLoader;
using td::data::DataLoaderOptions;
using td::data::shuffled_indices;
using td::data::TensorDataset;

namespace {

TensorDataset numbers(int64_t count, td::Device device = td::cpu()) {
  return TensorDataset({td::arange(count).to(device), td::arange(count).to(device) * 2});
}

std::vector<int64_t> one_epoch(DataLoader& loader) {
  std::vector<int64_t> seen;
  for (const auto& [x, y] : loader) {
    EXPECT_TRUE(td::equal(x * 2, y));
    const td::Tensor host = x.cpu();
    seen.insert(seen.end(), host.data_ptr<int64_t>(), host.data_ptr<int64_t>() + host.numel());
  }
  return seen;
}

std::vector<int64_t> counted(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

class Loaders : public OnDevice {};

TEST_P(Loaders, HandOutEverySampleOnceInOrder) {
  DataLoader loader(numbers(10, device()), {.batch_size = 4});
  EXPECT_EQ(loader.size(), 3);
  std::vector<int64_t> sizes;
  for (const td::data::Batch& batch : loader) sizes.push_back(batch.size());
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 4, 2}));
  EXPECT_EQ(one_epoch(loader), counted(10));
}

TEST_P(Loaders, ShuffleAnewEachEpochBySeed) {
  DataLoader loader(numbers(100, device()), {.batch_size = 7, .shuffle = true, .seed = 3});
  const auto first = one_epoch(loader), second = one_epoch(loader);
  EXPECT_NE(first, counted(100));
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<int64_t>(first.begin(), first.end()).size(), 100U);
  EXPECT_EQ(loader.epoch(), 2U);

  // The same numbers elsewhere, whatever else is drawn in between; another seed gives others; an epoch can be gone back to.
  DataLoader again(numbers(100, device()), {.batch_size = 32, .shuffle = true, .seed = 3});
  td::manual_seed(9);
  (void)td::rand({5});
  EXPECT_EQ(one_epoch(again), first);
  again.set_epoch(1);
  EXPECT_EQ(one_epoch(again), second);
  // From the middle on: the rest of the same epoch, then whole ones again.
  again.set_epoch(1, 2);
  EXPECT_EQ(one_epoch(again), std::vector<int64_t>(second.begin() + 64, second.end()));
  EXPECT_EQ(one_epoch(again).size(), 100U);
  again.set_epoch(0, 4);
  EXPECT_TRUE(one_epoch(again).empty());
  EXPECT_NE(error_of([&] { again.set_epoch(0, 5); }).find("first_batch must be between 0 and the 4 batches of an epoch, but is 5"),
            std::string::npos);
  DataLoader other(numbers(100, device()), {.batch_size = 32, .shuffle = true, .seed = 4});
  EXPECT_NE(one_epoch(other), first);
}

INSTANTIATE_TEST_SUITE_P(Devices, Loaders, testing::Values("cpu", "cuda:0"), device_name);

static_assert(std::input_iterator<DataLoader::Iterator>);

TEST_P(Loaders, HaveIteratorsThatStayAtTheEnd) {
  for (const int workers : {0, 2}) {
    DataLoader loader(numbers(10), {.batch_size = 4, .num_workers = workers, .device = device()});
    EXPECT_EQ(std::distance(loader.begin(), loader.end()), 3);
    auto it = loader.begin();
    for (int i = 0; i < 9; ++i) ++it;
    EXPECT_TRUE(it == loader.end());
    it++;
    EXPECT_TRUE(it == loader.end());
    EXPECT_EQ(std::distance(it, loader.end()), 0);
    const std::string text = error_of([&] { (void)*it; });
    EXPECT_NE(text.find("[DataLoader] the loop is past its last batch"), std::string::npos) << text;
    EXPECT_EQ(error_of([&] { (void)it->size(); }), text);
    EXPECT_EQ(error_of([&] { (void)(*it++).size(); }), text);
    EXPECT_EQ(error_of([&] { (void)*loader.end(); }), text);
    loader.set_epoch(0, loader.size());
    EXPECT_EQ(error_of([&] { (void)*loader.begin(); }), text);
  }
}

TEST_P(Loaders, HaveIteratorsWhoseCopiesGoOnTogether) {
  for (const int workers : {0, 2}) {
    DataLoader loader(numbers(10), {.batch_size = 3, .num_workers = workers, .device = device()});
    const auto first_of = [](const td::data::Batch& batch) { return batch.input()[0].item<int64_t>(); };
    auto it = loader.begin();
    const auto copy = it;
    EXPECT_EQ(first_of(*copy), 0);
    ++it;
    EXPECT_TRUE(copy == it);
    EXPECT_EQ(first_of(*copy), 3);
    EXPECT_EQ(first_of(*it), 3);
    EXPECT_EQ(first_of(*it++), 3);  // the batch of before
    EXPECT_EQ(first_of(*copy), 6);
    EXPECT_EQ(it->size(), 3);
    it++;
    it++;
    EXPECT_TRUE(copy == loader.end());
    EXPECT_FALSE(loader.begin() == loader.begin());  // two epochs
  }
}

TEST(DataLoader, CountsBatches) {
  const auto size = [](int64_t samples, int64_t batch, bool drop) {
    return DataLoader(numbers(samples), {.batch_size = batch, .drop_last = drop}).size();
  };
  EXPECT_EQ(size(1000, 32, false), 32);
  EXPECT_EQ(size(1000, 32, true), 31);
  EXPECT_EQ(size(64, 32, false), 2);
  EXPECT_EQ(size(64, 32, true), 2);
  EXPECT_EQ(size(3, 32, false), 1);
  EXPECT_EQ(size(3, 32, true), 0);
  EXPECT_EQ(size(0, 32, false), 0);
}

TEST(DataLoader, LeavesOutTheLastBatchWhereAsked) {
  DataLoader loader(numbers(10), {.batch_size = 4, .drop_last = true});
  EXPECT_EQ(one_epoch(loader), counted(8));
  DataLoader none(numbers(3), {.batch_size = 4, .drop_last = true});
  EXPECT_TRUE(one_epoch(none).empty());
}

TEST(DataLoader, PinsMemoryWhereAsked) {
  for (const bool shuffle : {false, true}) {
    DataLoader loader(numbers(10), {.batch_size = 4, .shuffle = shuffle, .pin_memory = true});
    for (const auto& [x, y] : loader) EXPECT_TRUE(x.is_pinned() && y.is_pinned());
  }
}

TEST(DataLoader, RefusesBatchesWithoutSamples) {
  EXPECT_EQ(error_of([] { DataLoader loader(numbers(3), {.batch_size = 0}); }),
            "[DataLoader] batch_size must be positive, not 0: give the number of samples a batch, such as 32");
  EXPECT_NE(error_of([] { DataLoader loader(numbers(3), {.batch_size = -2}); }), "no error");
}

TEST(ShuffledIndices, AreTheSameOnEveryMachine) {
  // Written down from a run: orders in checkpoints and papers must not change with a new version.
  EXPECT_EQ(shuffled_indices(8, 0, 0), (std::vector<int64_t>{1, 0, 6, 4, 3, 5, 2, 7}));
  EXPECT_EQ(shuffled_indices(8, 42, 3), (std::vector<int64_t>{6, 0, 7, 5, 1, 2, 4, 3}));
  EXPECT_TRUE(shuffled_indices(0, 0, 0).empty());
  EXPECT_EQ(shuffled_indices(1, 7, 7), std::vector<int64_t>{0});
}

TEST(DataLoader, TakesOptionsAsLargeAsTheyCome) {
  const TensorDataset all({td::arange(10)});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int kMostInt = std::numeric_limits<int>::max();
  for (const int workers : {0, 2}) {
    DataLoader whole(all, {.batch_size = kMost, .num_workers = workers, .prefetch_factor = kMostInt});
    EXPECT_EQ(whole.size(), 1);
    int batches = 0;
    for (const td::data::Batch& batch : whole) {
      EXPECT_TRUE(td::equal(batch.input(), td::arange(10)));
      ++batches;
    }
    EXPECT_EQ(batches, 1);
  }
  EXPECT_EQ(DataLoader(all, {.batch_size = kMost, .drop_last = true}).size(), 0);
  EXPECT_EQ(error_of([&] { DataLoader(all, {.num_workers = kMostInt}); }),
            "[DataLoader] num_workers must be at most 1024, since each is a thread, but is 2147483647");
  struct Endless : td::data::Dataset {
    [[nodiscard]] int64_t size() const override { return int64_t{1} << 60; }
    [[nodiscard]] td::data::Sample get(int64_t index) const override { return {{td::tensor(index)}}; }
  };
  DataLoader endless(Endless{}, {.batch_size = 1 << 20});
  EXPECT_EQ(error_of([&] { (void)endless.begin(); }), "[DataLoader] there is no memory for the order of 1099511627776 batches");
}

TEST(ShuffledIndices, AreEvenlySpread) {
  // Over 6,000 epochs each of 3 samples comes first about 2,000 times (deviation 37), and each of the 6 orders about 1,000 times (29).
  std::vector<int> first(3), orders(27);
  for (uint64_t epoch = 0; epoch < 6000; ++epoch) {
    const auto order = shuffled_indices(3, 1, epoch);
    ++first[static_cast<size_t>(order[0])];
    ++orders[static_cast<size_t>(order[0] * 9 + order[1] * 3 + order[2])];
  }
  for (const int count : first) EXPECT_NEAR(count, 2000, 200);
  for (const int at : {5, 7, 11, 15, 19, 21}) EXPECT_NEAR(orders[static_cast<size_t>(at)], 1000, 160);
}
