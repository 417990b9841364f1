// The host's memory cache: alignment, reuse, moves between threads, limits.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/allocator.h"
#include "runtime/host_cache.h"

namespace tandem::runtime {
namespace {

constexpr size_t MiB = size_t{1} << 20;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCached = false;  // there every block is malloc's own
#else
constexpr bool kCached = true;
#endif

TEST(HostBins, CoverEverySizeWithLittleWaste) {
  int last = 0;
  for (size_t bytes = 1; bytes <= MiB; bytes += bytes < 70000 ? 1 : 61) {
    const int bin = detail::host_bin(bytes);
    ASSERT_GE(bin, last);
    ASSERT_LT(bin, detail::kHostBins);
    ASSERT_GE(detail::host_bin_size(bin), bytes);
    ASSERT_TRUE(bin == 0 || detail::host_bin_size(bin - 1) < bytes) << bytes << " would fit a smaller bin";
    if (bytes >= 256) {
      ASSERT_LE(detail::host_bin_size(bin), bytes + bytes / 4 + 1) << bytes;
    }
    ASSERT_EQ(detail::host_bin_size(bin) % 64, 0U);
    last = bin;
  }
  EXPECT_EQ(detail::host_bin(MiB), detail::kHostBins - 1);
}

TEST(HostCache, GivesAlignedMemoryOfEverySize) {
  std::vector<std::pair<void*, size_t>> held;
  for (size_t bytes = 1; bytes < 40 * MiB; bytes = bytes * 5 / 3 + 1) {
    void* const data = allocate_host(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0U) << bytes;
    std::memset(data, static_cast<int>(bytes % 200), bytes);
    held.emplace_back(data, bytes);
  }
  for (const auto& [data, bytes] : held) {
    const auto* const first = static_cast<unsigned char*>(data);
    EXPECT_EQ(first[0], bytes % 200);
    EXPECT_EQ(first[bytes - 1], bytes % 200);
    free_host(data, bytes);
  }
}

TEST(HostCache, GivesNothingForNothing) {
  EXPECT_EQ(allocate_host(0), nullptr);
  free_host(nullptr, 0);
}

TEST(HostCache, ReusesWhatWasJustFreed) {
  if (!kCached) GTEST_SKIP();
  for (const size_t bytes : {size_t{4}, size_t{1000}, 900 * size_t{1024}, 3 * MiB, 40 * MiB}) {
    void* const data = allocate_host(bytes);
    free_host(data, bytes);
    EXPECT_EQ(allocate_host(bytes), data) << bytes;
    free_host(data, bytes);
  }
}

TEST(HostCache, MeetsNoPageFaultInASteadyLoop) {
  if (!kCached) GTEST_SKIP();
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  const size_t sizes[] = {40000000, 10 * MiB, 300000, 5000};
  const auto round = [&] {
    void* blocks[4];
    for (int i = 0; i < 4; ++i) {
      blocks[i] = allocate_host(sizes[i]);
      for (size_t at = 0; at < sizes[i]; at += 4096) static_cast<volatile char*>(blocks[i])[at] = 1;
    }
    for (int i = 0; i < 4; ++i) free_host(blocks[i], sizes[i]);
  };
  round();
  const long before = faults();
  for (int i = 0; i < 20; ++i) round();
  EXPECT_LT(faults() - before, 100);  // without the cache: thousands a round
}

TEST(HostCache, SaysSoWhenThereIsNoMemory) {
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX / 2, size_t{1} << 55}) {
    try {
      (void)allocate_host(bytes);
      FAIL() << bytes;
    } catch (const OutOfMemoryError& e) {
      EXPECT_EQ(std::string(e.what()).rfind(str("[allocate] could not get ", bytes, " bytes of host memory"), 0), 0U) << e.what();
    }
  }
  free_host(allocate_host(100), 100);
}

TEST(HostCache, TakesOverWhatAnEndedThreadKept) {
  if (!kCached) GTEST_SKIP();
  trim_host_cache();
  constexpr size_t bytes = 50000;
  std::vector<void*> theirs;
  std::thread([&] {
    for (int i = 0; i < 3; ++i) theirs.push_back(allocate_host(bytes));
    for (void* data : theirs) free_host(data, bytes);
  }).join();
  EXPECT_GE(host_cache_bytes(), 3 * bytes);
  std::vector<void*> ours;
  for (int i = 0; i < 3; ++i) ours.push_back(allocate_host(bytes));
  std::sort(theirs.begin(), theirs.end());
  auto sorted = ours;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, theirs);
  for (void* data : ours) free_host(data, bytes);
  trim_host_cache();
  EXPECT_EQ(host_cache_bytes(), 0U);
}

TEST(HostCache, PassesBlocksOnWhenOneThreadAllocatesAndAnotherFrees) {
  if (!kCached) GTEST_SKIP();
  // What the freeing thread keeps is bounded, so the rest comes back to the allocating one.
  trim_host_cache();
  constexpr size_t bytes = 1000;
  std::vector<void*> seen;
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(allocate_host(bytes));
    seen.insert(seen.end(), blocks.begin(), blocks.end());
    std::thread([&] {
      for (void* data : blocks) free_host(data, bytes);
    }).join();
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_LE(std::unique(seen.begin(), seen.end()) - seen.begin(), 300);
}

TEST(HostCache, KeepsLargeBlocksUpToItsLimit) {
  if (!kCached) GTEST_SKIP();
  trim_host_cache();
  const size_t before = set_host_cache_limit(40 * MiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(allocate_host(16 * MiB));
  for (void* data : blocks) free_host(data, 16 * MiB);
  EXPECT_EQ(host_cache_bytes(), 40 * MiB);
  EXPECT_EQ(set_host_cache_limit(before), 40 * MiB);
  trim_host_cache();
}

TEST(HostCache, GivesTheOldestLargeBlocksBackFirst) {
  if (!kCached) GTEST_SKIP();
  trim_host_cache();
  const size_t before = set_host_cache_limit(40 * MiB);
  std::vector<void*> blocks, between;  // what lies between keeps the blocks from growing together
  for (int i = 0; i < 5; ++i) {
    blocks.push_back(allocate_host(16 * MiB));
    between.push_back(allocate_host(2 * MiB));
  }
  for (void* data : blocks) free_host(data, 16 * MiB);
  EXPECT_EQ(host_cache_bytes(), 40 * MiB);
  void* const first = allocate_host(16 * MiB);
  void* const second = allocate_host(16 * MiB);
  EXPECT_TRUE((first == blocks[3] && second == blocks[4]) || (first == blocks[4] && second == blocks[3]));
  EXPECT_EQ(host_cache_bytes(), 8 * MiB);  // what is left of the third
  free_host(first, 16 * MiB);
  free_host(second, 16 * MiB);
  for (void* data : between) free_host(data, 2 * MiB);
  set_host_cache_limit(before);
  trim_host_cache();
}

TEST(HostCache, CutsALargeBlockForASmallerRequestAndJoinsItAgain) {
  if (!kCached) GTEST_SKIP();
  trim_host_cache();
  auto* const data = static_cast<char*>(allocate_host(32 * MiB));
  free_host(data, 32 * MiB);
  auto* const half = static_cast<char*>(allocate_host(16 * MiB));
  auto* const quarter = static_cast<char*>(allocate_host(8 * MiB));
  EXPECT_EQ(half, data);
  EXPECT_EQ(quarter, data + 16 * MiB);
  EXPECT_EQ(host_cache_bytes(), 8 * MiB);
  std::fill_n(half, 16 * MiB, 1);
  std::fill_n(quarter, 8 * MiB, 2);
  EXPECT_EQ(half[16 * MiB - 1], 1);
  free_host(quarter, 8 * MiB);
  EXPECT_EQ(host_cache_bytes(), 16 * MiB);
  free_host(half, 16 * MiB);
  EXPECT_EQ(host_cache_bytes(), 32 * MiB);
  void* const again = allocate_host(32 * MiB);
  EXPECT_EQ(again, data);
  free_host(again, 32 * MiB);
  trim_host_cache();
  EXPECT_EQ(host_cache_bytes(), 0U);
}

/// Blocks that are all too short do not add up. Nothing is written: what is mapped alone takes no memory.
TEST(HostCache, KeepsLittleMoreThanWasEverInUse) {
  if (!kCached) GTEST_SKIP();
  trim_host_cache();
  const size_t limit = set_host_cache_limit(64 * 1024 * MiB);
  constexpr size_t kMost = 2048 * MiB;
  free_host(allocate_host(kMost), kMost);
  trim_host_cache();
  for (size_t i = 1; i <= 80; ++i) {  // 25 GiB, each block longer than all before
    free_host(allocate_host(i * 8 * MiB), i * 8 * MiB);
    EXPECT_LE(host_cache_bytes(), kMost + kMost / 16) << i;
  }
  set_host_cache_limit(limit);
  trim_host_cache();
}

TEST(HostCache, KeepsBlocksApartInAnyOrder) {
  if (!kCached) GTEST_SKIP();
  trim_host_cache();
  const size_t limit = set_host_cache_limit(64 * MiB);
  std::mt19937 random(1);
  struct Held {
    unsigned char* data;
    size_t bytes;
    unsigned char mark;
  };
  std::vector<Held> held;
  size_t wrong = 0;
  for (int i = 0; i < 3000; ++i) {
    if (held.size() < 24 && random() % 2) {
      const size_t bytes = MiB + random() % (8 * MiB);
      auto* const data = static_cast<unsigned char*>(allocate_host(bytes));
      ASSERT_TRUE(data);
      const auto mark = static_cast<unsigned char>(i);
      data[0] = data[bytes / 2] = data[bytes - 1] = mark;
      held.push_back({data, bytes, mark});
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const Held last = held.back();
      held.pop_back();
      wrong += last.data[0] != last.mark || last.data[last.bytes / 2] != last.mark || last.data[last.bytes - 1] != last.mark;
      free_host(last.data, last.bytes);
    }
    if (i % 500 == 499) trim_host_cache();
  }
  for (const Held& last : held) free_host(last.data, last.bytes);
  EXPECT_EQ(wrong, 0U);
  EXPECT_LE(host_cache_bytes(), 64 * MiB);
  set_host_cache_limit(limit);
  trim_host_cache();
  EXPECT_EQ(host_cache_bytes(), 0U);
}

TEST(HostCache, ServesManyThreads) {
  std::mutex mutex;
  std::deque<std::pair<unsigned char*, size_t>> shared;  // blocks change hands here
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int step = 0; step < 4000; ++step) {
        const size_t bytes = step % 100 == 0 ? MiB + random() % MiB : 1 + random() % 3000;
        auto* const data = static_cast<unsigned char*>(allocate_host(bytes));
        data[0] = data[bytes - 1] = static_cast<unsigned char>(bytes);
        std::pair<unsigned char*, size_t> other{data, bytes};
        {
          const std::lock_guard lock(mutex);
          shared.push_back(other);
          if (shared.size() < 100) continue;
          other = shared.front();
          shared.pop_front();
        }
        wrong += other.first[0] != static_cast<unsigned char>(other.second) ||
                 other.first[other.second - 1] != static_cast<unsigned char>(other.second);
        free_host(other.first, other.second);
        if (step % 1500 == 0) trim_host_cache();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& [data, bytes] : shared) free_host(data, bytes);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tandem::runtime
