// The cache of page-locked memory.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "runtime/allocator_fake_driver.h"
#include "runtime/pinned_cache.h"

namespace tandem::runtime {
namespace {

constexpr size_t MiB = size_t{1} << 20;

TEST(PinnedCache, ReusesABlockOfTheSameClass) {
  FakeDriver driver;
  PinnedCache cache(driver);
  for (const size_t bytes : {size_t{1}, size_t{5000}, MiB - 1, MiB + 1, 9 * MiB}) {
    PinnedBlock* const block = cache.allocate(bytes, Site::none());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data) % 4096, 0U);
    EXPECT_GE(block->capacity, bytes);
    EXPECT_LE(block->capacity, std::max<size_t>(4096, bytes <= MiB ? 2 * bytes : bytes + bytes / 4));
    void* const data = block->data;
    cache.free(block);
    PinnedBlock* const again = cache.allocate(bytes, Site::none());
    EXPECT_EQ(again->data, data) << bytes;
    cache.free(again);
  }
  EXPECT_EQ(driver.pinned.size(), 5U);
  EXPECT_EQ(cache.cached_bytes(), driver.pinned_used);
}

TEST(PinnedCache, HasAClassForEverySize) {
  FakeDriver driver;
  PinnedCache cache(driver);
  for (size_t bytes = 1; bytes < 64 * MiB; bytes = bytes * 9 / 8 + 1) {
    PinnedBlock* const block = cache.allocate(bytes, Site::none());
    ASSERT_GE(block->capacity, bytes);
    ASSERT_EQ(block->capacity % 4096, 0U);
    cache.free(block);
  }
  cache.empty(Site::here());
  EXPECT_EQ(driver.pinned_used, 0U);
  EXPECT_EQ(driver.wrong_frees, 0);
}

TEST(PinnedCache, WaitsForCopies) {
  FakeDriver driver;
  PinnedCache cache(driver);
  const StreamRecord *const first = driver.stream(), *const second = driver.stream(1);
  PinnedBlock* const block = cache.allocate(1000, Site::none());
  void* const data = block->data;
  cache.record_stream(block, first);
  cache.record_stream(block, first);
  cache.record_stream(block, second);
  cache.free(block);
  EXPECT_EQ(driver.events_made, 2);
  EXPECT_NE(cache.allocate(1000, Site::none())->data, data);
  FakeDriver::pass(first);
  EXPECT_NE(cache.allocate(1000, Site::none())->data, data);
  FakeDriver::pass(second);
  EXPECT_EQ(cache.allocate(1000, Site::none())->data, data);
}

TEST(PinnedCache, GivesBackAllThatNobodyHolds) {
  FakeDriver driver;
  PinnedCache cache(driver);
  const StreamRecord* stream = driver.stream();
  PinnedBlock* const held = cache.allocate(1 << 20, Site::here());
  PinnedBlock* const copied = cache.allocate(1 << 22, Site::here());
  cache.free(cache.allocate(1 << 23, Site::here()));
  cache.record_stream(copied, stream);
  cache.free(copied);
  cache.empty(Site::here());  // waits for the copy
  EXPECT_EQ(FakeDriver::of(stream->handle).synchronized, 1);
  EXPECT_EQ(driver.pinned_used, held->capacity);
  EXPECT_EQ(cache.cached_bytes(), 0U);
  cache.free(held);
}

TEST(PinnedCache, GivesBackWhatIsCachedBeforeItGivesUp) {
  FakeDriver driver;
  driver.pinned_budget = 10 * MiB;
  PinnedCache cache(driver);
  cache.free(cache.allocate(8 * MiB, Site::none()));
  PinnedBlock* const block = cache.allocate(5 * MiB, Site::none());
  try {
    (void)cache.allocate(6 * MiB, {"loader.cpp", 9});
    FAIL();
  } catch (const OutOfMemoryError& e) {
    EXPECT_STREQ(
        e.what(),
        "[pin_memory] could not get 6291456 bytes of page-locked host memory (asked for at loader.cpp:9): let go of pinned tensors, or use "
        "pageable ones");
  }
  EXPECT_THROW((void)cache.allocate(SIZE_MAX, Site::none()), OutOfMemoryError);
  cache.free(block);
}

TEST(PinnedCache, ServesManyThreads) {
  FakeDriver driver;
  PinnedCache cache(driver);
  const StreamRecord* const streams[] = {driver.stream(), driver.stream()};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int step = 0; step < 2000; ++step) {
        PinnedBlock* const block = cache.allocate(1 + random() % 20000, Site::none());
        auto* const mark = static_cast<volatile int*>(block->data);
        *mark = t;
        if (random() % 3 == 0) cache.record_stream(block, streams[random() % 2]);
        std::this_thread::yield();
        wrong += *mark != t;
        cache.free(block);
        if (step % 700 == 0) cache.empty(Site::here());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tandem::runtime
