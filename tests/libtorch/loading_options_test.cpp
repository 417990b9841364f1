// Options of loaders and of chunk datasets, each seen in the batches or in what is read.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "libtorch/data.h"
#include "support/on_device.h"

namespace {

using namespace torch::data;
using namespace std::chrono_literals;

// Whether this comes true within some seconds.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
  return condition();
}

/// Gives its indices, each after what `before` does.
struct Indices : datasets::Dataset<Indices, int> {
  explicit Indices(std::function<void(size_t)> before_ = [](size_t) {}) : before(std::move(before_)) {}
  int get(size_t index) override {
    before(index);
    return static_cast<int>(index);
  }
  torch::optional<size_t> size() const override { return 10; }
  std::function<void(size_t)> before;
};

using Batches = std::vector<std::vector<int>>;
Batches loaded(const DataLoaderOptions& options) {
  auto loader = make_data_loader<samplers::SequentialSampler>(Indices(), options);
  Batches batches;
  for (auto& batch : *loader) batches.push_back(batch);
  return batches;
}

TEST(LoaderOptions, DecideTheBatches) {
  EXPECT_EQ(loaded(DataLoaderOptions()).size(), 10U);
  EXPECT_EQ(loaded(DataLoaderOptions().batch_size(4)), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
  EXPECT_EQ(loaded(DataLoaderOptions().batch_size(4).drop_last(true)), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  const DataLoaderOptions usual;
  EXPECT_EQ(std::tuple(usual.batch_size(), usual.workers(), usual.enforce_ordering(), usual.drop_last()), std::tuple(1U, 0U, true, false));
  EXPECT_FALSE(usual.max_jobs() || usual.timeout());
}

TEST(LoaderOptions, WorkersReadInThreadsOfTheirOwn) {
  for (const size_t workers : {0, 1}) {
    std::atomic<size_t> here = 0;
    const auto loop = std::this_thread::get_id();
    const Indices dataset([&](size_t) { here += std::this_thread::get_id() == loop; });
    auto loader = make_data_loader<samplers::SequentialSampler>(dataset, DataLoaderOptions(1).workers(workers));
    for (auto& batch : *loader) EXPECT_EQ(batch.size(), 1U);
    EXPECT_EQ(here, workers ? 0U : 10U);
  }
}

TEST(LoaderOptions, AsManyBatchesAreOnTheirWayAsAsked) {
  std::atomic<size_t> reads = 0;
  auto loader =
      make_data_loader<samplers::SequentialSampler>(Indices([&](size_t) { ++reads; }), DataLoaderOptions(1).workers(1).max_jobs(5));
  const auto batch = loader->begin();
  EXPECT_TRUE(comes_true([&] { return reads >= 5; }));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(reads, 5U);
}

TEST(LoaderOptions, ALoopWaitsNoLongerThanItsTimeout) {
  auto released = std::make_shared<std::atomic<bool>>(false);
  const Indices dataset([released](size_t) { comes_true([&] { return released->load(); }); });
  auto loader = make_data_loader<samplers::SequentialSampler>(dataset, DataLoaderOptions(1).workers(1).timeout(20ms));
  EXPECT_EQ(error_of([&] { (void)loader->begin()->size(); }),
            "[DataLoader] Timeout in DataLoader queue while waiting for next batch (timeout was 20 ms)");
  *released = true;
}

TEST(LoaderOptions, WithoutAnOrderTheFirstBatchIsTheFirstThatIsRead) {
  auto released = std::make_shared<std::atomic<bool>>(false);
  const Indices dataset([released](size_t index) {
    if (index == 0) comes_true([&] { return released->load(); });
  });
  const auto options = DataLoaderOptions(1).workers(2).enforce_ordering(false).timeout(4s);
  auto loader = make_data_loader<samplers::SequentialSampler>(dataset, options);
  std::vector<int> order;
  for (auto& batch : *loader) {
    order.push_back(batch.front());
    *released = true;
  }
  ASSERT_EQ(order.size(), 10U);
  EXPECT_NE(order.front(), 0);
  EXPECT_EQ(std::accumulate(order.begin(), order.end(), 0), 45);
}

/// Chunks of two numbers each; what `before` does comes before each is read.
struct Pairs : datasets::ChunkDataReader<int> {
  explicit Pairs(std::function<void(size_t)> before_ = [](size_t) {}) : before(std::move(before_)) {}
  std::vector<int> read_chunk(size_t chunk) override {
    before(chunk);
    return {static_cast<int>(2 * chunk), static_cast<int>(2 * chunk + 1)};
  }
  size_t chunk_count() override { return 4; }
  void reset() override {}
  std::function<void(size_t)> before;
};
/// From the last to the first.
struct Backwards : samplers::SequentialSampler {
  using SequentialSampler::SequentialSampler;
  void reset(std::optional<size_t> new_size = std::nullopt) override {
    size = new_size.value_or(size);
    SequentialSampler::reset(new_size);
  }
  std::optional<std::vector<size_t>> next(size_t count) override {
    auto indices = SequentialSampler::next(count);
    if (indices)
      for (size_t& index : *indices) index = size - 1 - index;
    return indices;
  }
  size_t size = 0;
};

using Chunks = datasets::ChunkDataset<Pairs, samplers::SequentialSampler, Backwards>;
Batches chunked(const datasets::ChunkDatasetOptions& options) {
  Chunks dataset(Pairs(), samplers::SequentialSampler(0), Backwards(0), options);
  dataset.reset();
  Batches batches;
  while (auto batch = dataset.get_batch()) batches.push_back(*batch);
  return batches;
}

TEST(ChunkOptions, DecideTheBatches) {
  using Options = datasets::ChunkDatasetOptions;
  EXPECT_EQ(chunked(Options(1, 2)), (Batches{{1, 0}, {3, 2}, {5, 4}, {7, 6}}));
  EXPECT_EQ(chunked(Options(1, 2).batch_size(8)), (Batches{{1, 0, 3, 2, 5, 4, 7, 6}}));
  EXPECT_EQ(chunked(Options(1, 2).cross_chunk_shuffle_count(2)), (Batches{{3, 2}, {1, 0}, {7, 6}, {5, 4}}));
  EXPECT_EQ(std::tuple(Options(1, 2).cache_size(), Options(1, 2).cross_chunk_shuffle_count()), std::tuple(2048U, 1U));
}

TEST(ChunkOptions, ReadingStopsWhereEnoughExamplesWait) {
  std::atomic<size_t> reads = 0;
  Chunks dataset(Pairs([&](size_t) { ++reads; }), samplers::SequentialSampler(0), Backwards(0),
                 datasets::ChunkDatasetOptions(1, 1).cache_size(2));
  dataset.reset();
  EXPECT_TRUE(comes_true([&] { return reads == 2; }));  // the second one waits for room
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(reads, 2U);
}

TEST(ChunkOptions, SeveralThreadsReadAtOnce) {
  std::atomic<size_t> reading = 0;
  std::atomic<bool> met = false;
  const Pairs reader([&](size_t) {
    if (++reading > 1) met = true;
    if (!met) met = comes_true([&] { return reading > 1; });
  });
  Chunks dataset(reader, samplers::SequentialSampler(0), Backwards(0), datasets::ChunkDatasetOptions(1, 2).preloader_count(2));
  dataset.reset();
  EXPECT_TRUE(comes_true([&] { return reading == 4; }));
  EXPECT_TRUE(met);
}

}  // namespace
