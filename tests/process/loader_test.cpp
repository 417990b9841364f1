// Datasets in worker processes.
#include <unistd.h>

#include <csignal>

#include "support.h"

namespace tandem::testing {
namespace {

/// Squares, and which process gave them. Some indices are traps.
class Squares : public data::Dataset {
 public:
  Squares(int64_t count, int64_t trap) : count_(count), trap_(trap) {}
  int64_t size() const override { return count_; }
  data::Sample get(int64_t index) const override {
    if (index == trap_) throw std::domain_error("a trap");
    if (index == trap_ - 100) raise(SIGKILL);
    const double noise = data::sample_generator().uniform();
    return {{tensor(static_cast<double>(index * index)), tensor(static_cast<int64_t>(getpid())), tensor(noise), rand({2})}};
  }

 private:
  int64_t count_, trap_;
};

Squares make(int64_t count, int64_t trap) { return {count, trap}; }
Squares make_none(std::string text) { throw std::runtime_error(text); }

TEST(LoaderInProcesses, GivesTheSameSamples) {
  data::DataLoader own(make(50, -1), {.batch_size = 8, .shuffle = true, .seed = 3});
  data::DataLoader loader = data::DataLoader::in_processes(make, {.batch_size = 8, .shuffle = true, .seed = 3, .num_workers = 2}, 50, -1);
  EXPECT_EQ(loader.size(), 7);
  for (int epoch = 0; epoch < 2; ++epoch) {
    auto expected = own.begin();
    for (const auto& batch : loader) {
      const auto wanted = *expected;
      ++expected;
      for (const size_t i : {0, 2, 3}) EXPECT_TRUE(equal(batch[i], wanted[i])) << i;
      EXPECT_NE(batch[1][0].item<int64_t>(), getpid());
    }
    EXPECT_TRUE(expected == own.end());
  }
  EXPECT_EQ(loader.dataset()[7][0].item<double>(), 49);
}

TEST(LoaderInProcesses, OntoAGpuAndOneProcess) {
  data::DataLoader loader = data::DataLoader::in_processes(make, {.batch_size = 10, .device = gpu(0)}, 20, -1);
  double sum = 0;
  for (const auto& batch : loader) {
    EXPECT_EQ(batch[0].device(), gpu(0));
    sum += batch[0].sum().item<double>();
  }
  EXPECT_EQ(sum, 2470);
}

TEST(LoaderInProcesses, ErrorsComeBack) {
  data::DataLoader trapped = data::DataLoader::in_processes(make, {.batch_size = 5, .num_workers = 2}, 20, 7);
  int batches = 0;
  expect_error<mp::ProcessError>(
      [&] {
        for ([[maybe_unused]] const auto& batch : trapped) ++batches;
      },
      "a trap");
  EXPECT_EQ(batches, 1);
  data::DataLoader killed = data::DataLoader::in_processes(make, {.batch_size = 5, .num_workers = 1}, 20, 107);
  expect_error<mp::ProcessError>(
      [&] {
        for ([[maybe_unused]] const auto& batch : killed) ++batches;
      },
      "SIGKILL");
  expect_error<Error>([&] { (void)killed.dataset()[0]; }, "all workers of the dataset have ended");
  expect_error<mp::ProcessError>([] { (void)data::DataLoader::in_processes(make_none, {.num_workers = 2}, "no data here"); },
                                 "no data here");
  expect_error<Error>([] { (void)data::DataLoader::in_processes(make, {.batch_size = 0}, 20, 7); }, "batch_size");
  const data::DataLoaderOptions collating{.collate_fn = [](std::vector<data::Sample> samples) { return samples[0]; }};
  expect_error<Error>([&] { (void)data::DataLoader::in_processes(make, collating, 20, 7); }, "collate_fn");
}

TEST(LoaderInProcesses, LeavesNothing) {
  {
    data::DataLoader loader = data::DataLoader::in_processes(make, {.batch_size = 5, .num_workers = 2}, 20, -1);
    for ([[maybe_unused]] const auto& batch : loader) break;
    EXPECT_EQ(children(), 2);
  }
  EXPECT_EQ(children(), 0);
}

}  // namespace
}  // namespace tandem::testing
