// All observers at once, while threads work on two GPUs, ranks reduce, graphs are replayed and memory runs out.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tandem.h"

namespace td = tandem;
namespace cuda = td::cuda;

namespace {

/// A bit of everything that is told, ordered as it should be.
void work(int i) {
  const auto device = td::gpu(i);
  const cuda::DeviceGuard guard(device);
  td::nn::Linear net(8, 4);
  net.to(device);
  td::optim::SGD sgd(net.parameters(), {.lr = 0.1});
  const auto x = td::randn({16, 8}, device);
  const cuda::Stream side(device);
  for (int step = 0; step < 20; ++step) {
    sgd.zero_grad();
    net(x).square().mean().backward();
    sgd.step();
    side.wait_stream(cuda::current_stream(device));
    {
      const cuda::StreamGuard there(side);
      const auto y = x * 2;
      x.record_stream(side);
      cuda::current_stream(device).synchronize();
      EXPECT_EQ(y.sizes(), x.sizes());
    }
    cuda::current_stream(device).wait_stream(side);
    EXPECT_TRUE(net.weight.sum().item<float>() < 1e6F);
  }
  EXPECT_THROW((void)td::empty({int64_t{1} << 40}, device), td::OutOfMemoryError);
}

TEST(Together, AllObserversSeeTheSameWork) {
  cuda::memory::record_history();
  const td::races::Checker races;
  const td::ledger::Recorder ledger;
  td::profiler::Profile profile({.record_shapes = true, .profile_memory = true});
  std::atomic<bool> over = false;
  // Others come and go meanwhile.
  std::thread changing([&] {
    while (!over) {
      const td::ledger::Recorder another;
      td::profiler::Profile also;
      std::this_thread::yield();
      also.stop();
    }
  });
  std::thread other([] { work(1); });
  work(0);
  other.join();
  over = true;
  changing.join();
  profile.stop();
  for (const auto& report : races.reports()) ADD_FAILURE() << report.text;
  int items = 0;
  for (const auto& entry : ledger.entries()) items += entry.op == "item";
  EXPECT_EQ(items, 40);
  const auto averages = profile.key_averages();
  const auto* item = averages.find("item");
  ASSERT_NE(item, nullptr);
  EXPECT_EQ(item->count, 40);
  EXPECT_FALSE(cuda::memory::history(td::gpu(1)).empty());
  cuda::memory::record_history(false);
}

TEST(Together, RanksAreToldApart) {
  const td::races::Checker races;
  const td::ledger::Recorder ledger;
  td::distributed::run_ranks(2, [](int rank) {
    const auto t = td::full({100}, 1.0 * rank, td::gpu(rank));
    td::distributed::all_reduce(t);
    EXPECT_EQ(t.sum().item<float>(), 100.F);
  });
  for (const auto& report : races.reports()) ADD_FAILURE() << report.text;
  int items = 0;
  for (const auto& entry : ledger.entries()) items += entry.op == "item";
  EXPECT_EQ(items, 2);
}

}  // namespace
