// Loaders with workers: the same batches in the same order whatever the threads do, and no hang whatever goes wrong.
#include <gtest/gtest.h>

#include <set>

#include "data/support.h"
#include "support/on_device.h"

namespace td = tandem;
using td::data::Batch;
using td::data::DataLoader;

class Workers : public OnDevice {};

TEST_P(Workers, GiveTheSameBitsForAnyNumber) {
  const auto epochs = [&](int workers, int prefetch) {
    DataLoader loader(
        Random(53), {.batch_size = 4, .shuffle = true, .seed = 7, .num_workers = workers, .prefetch_factor = prefetch, .device = device()});
    std::vector<double> numbers = numbers_of(loader);
    const std::vector<double> second = numbers_of(loader);
    EXPECT_NE(numbers, second);
    numbers.insert(numbers.end(), second.begin(), second.end());
    return numbers;
  };
  const auto alone = epochs(0, 2);
  EXPECT_EQ(alone.size(), 2U * 53 * 5);
  td::manual_seed(3);  // numbers drawn elsewhere change nothing
  EXPECT_EQ(epochs(1, 1), alone);
  EXPECT_EQ(epochs(1, 3), alone);
  EXPECT_EQ(epochs(4, 2), alone);
}

TEST_P(Workers, PutBatchesOnTheDevice) {
  const auto x = td::arange(40).reshape({20, 2}), y = td::arange(20);
  for (const int workers : {0, 2}) {
    for (const auto& source : {td::cpu(), td::detail::resolve(device())}) {
      DataLoader loader(td::data::TensorDataset({x.to(source), y.to(source)}),
                        {.batch_size = 3, .shuffle = true, .num_workers = workers, .device = device()});
      std::multiset<int64_t> seen;
      for (const auto& [inputs, labels] : loader) {
        EXPECT_EQ(inputs.device(), td::detail::resolve(device()));
        EXPECT_TRUE(td::equal(inputs.select(1, 0), labels * 2));
        const td::Tensor host = labels.cpu();
        seen.insert(host.data_ptr<int64_t>(), host.data_ptr<int64_t>() + host.numel());
      }
      EXPECT_EQ(seen.size(), 20U);
      EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 20U);
    }
  }
}

// Work is queued on the batches on another stream than the loop began with, and the memory of earlier ones is reused meanwhile.
TEST_P(Workers, OrderTheLoopsStreamBehindTheCopies) {
  if (device().is_cpu()) GTEST_SKIP() << "the CPU has no streams";
  const int64_t rows = 64, columns = 1000;
  const auto x = td::arange(rows).reshape({rows, 1}).expand({rows, columns}).contiguous();
  DataLoader loader(td::data::TensorDataset({x}), {.batch_size = 2, .num_workers = 2, .device = device()});
  const td::cuda::Stream side(device());
  std::vector<td::Tensor> sums;
  {
    const td::cuda::StreamGuard guard(side);
    for (const Batch& batch : loader) sums.push_back(batch.input().sum());
  }
  side.synchronize();
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i].item<int64_t>(), (4 * static_cast<int64_t>(i) + 1) * columns);
}

TEST_P(Workers, ThrowInTheLoopWhatASampleThrew) {
  for (const int workers : {0, 1, 3}) {
    DataLoader loader(Faulty(20, 9), {.batch_size = 2, .num_workers = workers, .device = device()});
    int64_t batches = 0;
    EXPECT_THROW(for (const Batch& batch : loader) batches += batch.size() == 2;, td::IndexError);
    EXPECT_EQ(batches, 4);  // those before it came out
    EXPECT_EQ(error_of([&] {
                for (const Batch& batch : loader) (void)batch;
              }),
              "[Dataset] sample 9 cannot be read (mend it, or leave it out by data::subset): the picture is torn");
    // An iterator can go past it.
    auto it = loader.begin();
    int64_t good = 0, bad = 0;
    for (; it != loader.end(); ++it) error_of([&] { (void)*it; }) == "no error" ? ++good : ++bad;
    EXPECT_EQ(good, 9);
    EXPECT_EQ(bad, 1);
  }
}

TEST_P(Workers, StopWhereTheLoopIsLeft) {
  DataLoader loader(Random(200), {.batch_size = 2, .num_workers = 3, .device = device()});
  for (int round = 0; round < 5; ++round) {
    int64_t batches = 0;
    for (const Batch& batch : loader) {
      (void)batch;
      if (++batches == round) break;
    }
  }
  EXPECT_EQ(error_of([&] {
              for (const Batch& batch : loader) td::fail("stopped at ", batch.size());
            }),
            "stopped at 2");
  (void)loader.begin();  // never asked for anything
  EXPECT_EQ(numbers_of(loader).size(), 1000U);
}

TEST_P(Workers, OutliveTheirLoader) {
  std::optional<DataLoader> loader(std::in_place, Random(20),
                                   td::data::DataLoaderOptions{.batch_size = 2, .num_workers = 2, .device = device()});
  auto it = loader->begin();
  const auto end = loader->end();
  loader.reset();
  int64_t samples = 0;
  for (; it != end; ++it) samples += (*it).size();
  EXPECT_EQ(samples, 20);
}

// Streams that a user makes come from a pool that goes round: one that the library took would be handed to the user, too.
TEST_P(Workers, TakeNoStreamFromTheUsersPool) {
  if (device().is_cpu()) GTEST_SKIP() << "the CPU has no streams";
  DataLoader loader(Random(8), {.batch_size = 2, .num_workers = 2, .device = device()});
  const td::cuda::Stream before(device());
  for (int epoch = 0; epoch < 3; ++epoch) EXPECT_EQ(numbers_of(loader).size(), 40U);
  const td::cuda::Stream after(device());
  EXPECT_EQ(after.id(), before.id() % 32 + 1);
}

INSTANTIATE_TEST_SUITE_P(Devices, Workers, testing::Values("cpu", "cuda:0", "cuda:1"), device_name);

TEST(Loader, ReadsAheadAsFarAsItIsTold) {
  class Counting : public td::data::Dataset {
   public:
    explicit Counting(std::atomic<int64_t>* furthest) : furthest_(furthest) {}
    [[nodiscard]] int64_t size() const override { return 100; }
    [[nodiscard]] td::data::Sample get(int64_t index) const override {
      int64_t seen = furthest_->load();
      while (seen < index && !furthest_->compare_exchange_weak(seen, index)) {
      }
      return {{td::tensor(index)}};
    }

   private:
    std::atomic<int64_t>* furthest_;
  };
  std::atomic<int64_t> furthest{-1};
  DataLoader loader(Counting(&furthest), {.num_workers = 2, .prefetch_factor = 3});
  int64_t at = 0;
  for (const Batch& batch : loader) {
    EXPECT_EQ(batch.input()[0].item<int64_t>(), at);
    EXPECT_LT(furthest.load(), ++at + 6);
  }
}

TEST(Loader, CollatesAsTold) {
  for (const int workers : {0, 2}) {
    DataLoader loader(
        Random(10), {.batch_size = 4, .pin_memory = true, .num_workers = workers, .collate_fn = [](std::vector<td::data::Sample> samples) {
                       td::Tensor sum = td::zeros({}, td::kInt64);
                       for (const auto& sample : samples) sum = sum + sample.input();
                       return Batch{{sum.reshape({1})}};
                     }});
    std::vector<int64_t> sums;
    for (const Batch& batch : loader) {
      EXPECT_TRUE(batch.input().is_pinned());
      sums.push_back(batch.input().item<int64_t>());
    }
    EXPECT_EQ(sums, (std::vector<int64_t>{0 + 1 + 2 + 3, 4 + 5 + 6 + 7, 8 + 9}));
  }
}

TEST(Loader, RunsLoopsInsideOfLoops) {
  DataLoader loader(Random(6), {.batch_size = 2, .num_workers = 2});
  int64_t pairs = 0;
  for (const Batch& outer : loader)
    for (const Batch& inner : loader) pairs += outer.size() * inner.size();
  EXPECT_EQ(pairs, 36);
}

TEST(Loader, SaysWhatDoesNotFitTogether) {
  const auto text = [](td::data::DataLoaderOptions options) { return error_of([&] { DataLoader loader(Random(4), options); }); };
  EXPECT_EQ(text({.num_workers = -1}), "[DataLoader] num_workers must not be negative, but is -1: give 0 to read in the loop itself");
  EXPECT_EQ(text({.prefetch_factor = 0}),
            "[DataLoader] prefetch_factor must be positive, not 0: give the batches that a worker reads ahead, such as 2");
  EXPECT_EQ(text({.shuffle = true, .sampler = td::data::SequentialSampler(4)}),
            "[DataLoader] sampler and shuffle exclude each other: give the order in one way");
  EXPECT_NE(text({.batch_size = 2, .batch_sampler = td::data::BatchSampler(td::data::SequentialSampler(4), 2)}), "no error");
}

TEST(SampleGenerator, IsThereWhileASampleIsRead) {
  EXPECT_NE(error_of([] { (void)td::data::sample_generator(); }).find("no sample is being read"), std::string::npos);
  double first = 0, same = 0, other = 0;
  {
    const td::data::SampleScope scope(1, 2, 3);
    first = td::data::sample_generator().uniform();
  }
  {
    const td::data::SampleScope scope(1, 2, 3);
    same = td::data::sample_generator().uniform();
    const td::data::SampleScope inner(1, 2, 4);
    other = td::data::sample_generator().uniform();
  }
  EXPECT_EQ(first, same);
  EXPECT_NE(first, other);
}
