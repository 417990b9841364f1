// torch::data: datasets, transforms, samplers and loaders.
#include "libtorch/data.h"

#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtorch/functions.h"
#include "libtorch/serialize.h"

namespace {

using namespace torch::data;
using torch::Tensor;

struct Squares : datasets::Dataset<Squares, Example<Tensor, Tensor>> {
  explicit Squares(const char* device_) : device(device_) {}
  Example<> get(size_t index) override {
    const auto x = tandem::full({2}, static_cast<double>(index)).to(device);
    return {x, x * x};
  }
  torch::optional<size_t> size() const override { return 10; }
  std::string device;
};

class LibtorchData : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, LibtorchData, testing::Values("cpu", "cuda:0"));

TEST_P(LibtorchData, WorkersGiveTheBatchesInOrder) {
  for (const size_t workers : {0, 3}) {
    auto loader = make_data_loader<samplers::SequentialSampler>(Squares(GetParam()).map(transforms::Stack<>()),
                                                                DataLoaderOptions(4).workers(workers).drop_last(true));
    for (int epoch = 0; epoch < 2; ++epoch) {
      int64_t next = 0;
      for (auto& batch : *loader) {
        ASSERT_EQ(batch.data.sizes(), tandem::Shape({4, 2}));
        for (int64_t i = 0; i < 4; ++i, ++next) EXPECT_EQ(batch.target.index({i, 1}).item<float>(), static_cast<float>(next * next));
      }
      EXPECT_EQ(next, 8);
    }
  }
}

TEST_P(LibtorchData, NormalizeGoesByChannel) {
  transforms::Normalize<> normalize({1, 2}, {0.5, 2});
  const Tensor given = tandem::full({2, 1, 3}, 4);
  EXPECT_TRUE(normalize(given).equal(tandem::tensor({6.0F, 6.0F, 6.0F, 1.0F, 1.0F, 1.0F}).reshape({2, 1, 3})));
}

TEST(LibtorchLoader, AnErrorInAWorkerArrivesInTheLoop) {
  struct Bad : datasets::Dataset<Bad, int> {
    int get(size_t index) override {
      if (index == 1) throw std::invalid_argument("badness");
      return 0;
    }
    torch::optional<size_t> size() const override { return 4; }
  };
  auto loader = make_data_loader<samplers::SequentialSampler>(Bad(), DataLoaderOptions(1).workers(2));
  auto batch = loader->begin();
  EXPECT_EQ(batch->at(0), 0);
  try {
    ++batch;
    FAIL();
  } catch (const WorkerException& error) {
    EXPECT_STREQ(error.what(), "Caught exception in DataLoader worker thread. Original message: badness");
    EXPECT_THROW(std::rethrow_exception(error.original_exception), std::invalid_argument);
  }
}

TEST(LibtorchLoader, LeavingALoopEndsTheWorkers) {
  for (int i = 0; i < 20; ++i) {
    auto loader = make_data_loader(Squares("cpu"), DataLoaderOptions(1).workers(2).max_jobs(8));
    for (auto& batch : *loader)
      if (batch.size() == 1) break;
  }
}

TEST(LibtorchLoader, AnErrorNamesTheLoopsLine) {
  struct Odd : datasets::Dataset<Odd> {
    Example<> get(size_t index) override { return {tandem::zeros({static_cast<int64_t>(index)}), tandem::zeros({1})}; }
    torch::optional<size_t> size() const override { return 2; }
  };
  auto loader = make_data_loader<samplers::SequentialSampler>(Odd().map(transforms::Stack<>()), 2);
  const int line = __LINE__ + 2;
  try {
    for (auto& batch : *loader) (void)batch;
    FAIL();
  } catch (const tandem::Error& error) {
    EXPECT_EQ(error.where().line, line + 0);
  }
}

TEST(LibtorchSamplers, RandomOnesFollowTheSeedAndGoOnFromAFile) {
  tandem::manual_seed(3);
  samplers::RandomSampler a(20);
  tandem::manual_seed(3);
  samplers::RandomSampler b(20);
  EXPECT_EQ(a.next(7), b.next(7));
  std::stringstream file;
  torch::save(a, file);
  samplers::RandomSampler c(20);
  torch::load(c, file);
  EXPECT_EQ(a.next(20), c.next(20));
}

TEST(LibtorchSamplers, DistributedOnesShareTheExamplesOut) {
  std::vector<int> seen(10);
  for (size_t rank = 0; rank < 3; ++rank) {
    samplers::DistributedRandomSampler sampler(10, 3, rank, /*allow_duplicates=*/false);
    sampler.set_epoch(5);
    sampler.reset();
    while (auto indices = sampler.next(2))
      for (const size_t i : *indices) ++seen[i];
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 9);
  EXPECT_THROW(samplers::DistributedSequentialSampler(10, 3, 3), tandem::Error);
}

TEST(LibtorchChunks, EachExampleComesOnceAnEpoch) {
  struct Reader : datasets::ChunkDataReader<int> {
    std::vector<int> read_chunk(size_t chunk) override { return {static_cast<int>(2 * chunk), static_cast<int>(2 * chunk + 1)}; }
    size_t chunk_count() override { return 5; }
    void reset() override {}
  };
  using Chunks = datasets::ChunkDataset<Reader>;
  auto dataset = datasets::make_shared_dataset<Chunks>(Reader(), samplers::RandomSampler(0), samplers::RandomSampler(0),
                                                       datasets::ChunkDatasetOptions(2, 3, 6));
  auto loader = make_data_loader(dataset, DataLoaderOptions(3).workers(2));
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int> seen(10);
    for (auto& batch : *loader)
      for (const int i : batch) ++seen[static_cast<size_t>(i)];
    EXPECT_EQ(seen, std::vector<int>(10, 1));
  }
}

}  // namespace
