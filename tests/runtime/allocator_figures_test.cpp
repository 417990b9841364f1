// The caching allocator under random use, against a model: every figure, best fit, no overlap; and from several threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "runtime/allocator_fake_driver.h"
#include "runtime/caching_allocator.h"
#include "runtime/memory_text.h"

namespace tandem::runtime {
namespace {

constexpr size_t MiB = size_t{1} << 20;

void expect_current(const cuda::StatByPool& stat, int64_t small, int64_t large, const char* what) {
  EXPECT_EQ(stat.small_pool.current, small) << what;
  EXPECT_EQ(stat.large_pool.current, large) << what;
  EXPECT_EQ(stat.all.current, small + large) << what;
  for (const cuda::Stat* one : {&stat.all, &stat.small_pool, &stat.large_pool}) {
    EXPECT_EQ(one->allocated - one->freed, one->current) << what;
    EXPECT_GE(one->peak, one->current) << what;
  }
}

/// Every figure again, from what the snapshot shows.
void expect_figures_as_in(const std::vector<cuda::SegmentInfo>& segments, const cuda::MemoryStats& stats) {
  struct Sums {
    int64_t segments = 0, reserved = 0, allocation = 0, allocated = 0, active = 0, active_bytes = 0, requested = 0, split = 0,
            split_bytes = 0;
  };
  Sums sums[2];
  for (const auto& segment : segments) {
    Sums& s = sums[segment.is_large];
    ++s.segments;
    s.reserved += static_cast<int64_t>(segment.total_size);
    size_t total = 0, allocated = 0, active = 0;
    const cuda::BlockInfo* before = nullptr;
    for (const auto& block : segment.blocks) {
      const auto size = static_cast<int64_t>(block.size);
      EXPECT_GT(block.size, 0U);
      EXPECT_EQ(block.size % 512, 0U);
      EXPECT_FALSE(before && before->state == "inactive" && block.state == "inactive") << "two free neighbours were not merged";
      before = &block;
      total += block.size;
      if (block.state == "active_allocated") {
        ++s.allocation;
        s.allocated += size;
        allocated += block.size;
      }
      if (block.state == "inactive") {
        if (segment.blocks.size() > 1) {
          ++s.split;
          s.split_bytes += size;
        }
      } else {
        ++s.active;
        s.active_bytes += size;
        s.requested += static_cast<int64_t>(block.requested_size);
        active += block.size;
        EXPECT_LE(block.requested_size, block.size);
      }
    }
    EXPECT_EQ(total, segment.total_size);
    EXPECT_EQ(allocated, segment.allocated_size);
    EXPECT_EQ(active, segment.active_size);
  }
  expect_current(stats.segment, sums[0].segments, sums[1].segments, "segment");
  expect_current(stats.reserved_bytes, sums[0].reserved, sums[1].reserved, "reserved_bytes");
  expect_current(stats.allocation, sums[0].allocation, sums[1].allocation, "allocation");
  expect_current(stats.allocated_bytes, sums[0].allocated, sums[1].allocated, "allocated_bytes");
  expect_current(stats.active, sums[0].active, sums[1].active, "active");
  expect_current(stats.active_bytes, sums[0].active_bytes, sums[1].active_bytes, "active_bytes");
  expect_current(stats.requested_bytes, sums[0].requested, sums[1].requested, "requested_bytes");
  expect_current(stats.inactive_split, sums[0].split, sums[1].split, "inactive_split");
  expect_current(stats.inactive_split_bytes, sums[0].split_bytes, sums[1].split_bytes, "inactive_split_bytes");
}

/// The size of the block that best fit must choose on stream `id`; 0 where none fits.
size_t best_fit(const std::vector<cuda::SegmentInfo>& segments, int id, bool large, size_t size) {
  size_t best = 0;
  for (const auto& segment : segments) {
    if (segment.stream != id || segment.is_large != large) continue;
    for (const auto& block : segment.blocks)
      if (block.state == "inactive" && block.size >= size && (best == 0 || block.size < best)) best = block.size;
  }
  return best;
}

/// The free block that lay at `address`; 0 where there was none.
size_t free_size_at(const std::vector<cuda::SegmentInfo>& segments, uintptr_t address) {
  for (const auto& segment : segments) {
    uintptr_t at = segment.address;
    for (const auto& block : segment.blocks) {
      if (at == address && block.state == "inactive") return block.size;
      at += block.size;
    }
  }
  return 0;
}

size_t random_size(std::mt19937& random) {
  switch (random() % 4) {
    case 0: return 1 + random() % 5000;
    case 1: return 1 + random() % (2 * MiB);
    case 2: return 1 + random() % (12 * MiB);
    default: return (1 + random() % 8) * 512;
  }
}

TEST(CachingAllocatorFigures, AgreeWithAModelUnderRandomUse) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    std::mt19937 random(seed);
    FakeDriver driver(400 * MiB);
    CachingAllocator memory(driver, 0);
    const StreamRecord* const streams[] = {driver.stream(), driver.stream(), driver.stream()};
    std::vector<Block*> held;
    size_t peak = 0;
    for (int step = 0; step < 1000; ++step) {
      if (random() % 9 == 0) FakeDriver::pass(streams[random() % 3]);
      if (random() % 200 == 0) memory.empty_cache(Site::none());
      if (held.size() < 10 || (held.size() < 120 && random() % 2)) {
        // Settled first, so that what is free now is what the allocator sees.
        memory.free(memory.allocate(1, streams[0], Site::none()));
        const size_t bytes = random_size(random), size = (bytes + 511) / 512 * 512;
        const StreamRecord* const stream = streams[random() % 3];
        const auto before = memory.snapshot();
        const size_t expected = best_fit(before, stream->id, size > MiB, size);
        try {
          Block* const block = memory.allocate(bytes, stream, {"f.cpp", step});
          const uintptr_t user = reinterpret_cast<uintptr_t>(driver.user_address(0, block->address));
          if (expected) {
            ASSERT_EQ(free_size_at(before, user), expected) << "for " << bytes;
          }
          std::memset(block->address, static_cast<int>(block->size / 512 % 251), bytes);
          held.push_back(block);
        } catch (const OutOfMemoryError&) {
          EXPECT_EQ(expected, 0U);
        }
      } else {
        const size_t i = random() % held.size();
        Block* const block = held[i];
        const auto mark = static_cast<char>(block->size / 512 % 251);
        EXPECT_TRUE(block->address[0] == mark && block->address[block->requested - 1] == mark) << "somebody else wrote here";
        for (const StreamRecord* stream : streams)
          if (random() % 5 == 0) memory.record_stream(block, stream);
        memory.free(block);
        held[i] = held.back();
        held.pop_back();
      }
      const auto stats = memory.stats();
      peak = std::max<size_t>(peak, stats.allocated_bytes.all.current);
      EXPECT_GE(stats.allocated_bytes.all.peak, peak);
      if (step % 10 == 0) expect_figures_as_in(memory.snapshot(), stats);
      EXPECT_EQ(memory.reserved_bytes(), driver.used);
    }
    for (Block* block : held) memory.free(block);
    memory.empty_cache(Site::none());
    expect_figures_as_in(memory.snapshot(), memory.stats());
    EXPECT_EQ(driver.used, 0U);
    EXPECT_EQ(driver.wrong_frees, 0);
  }
}

TEST(CachingAllocatorFigures, CanBeReset) {
  FakeDriver driver;
  CachingAllocator memory(driver, 0);
  const StreamRecord* const stream = driver.stream();
  Block* const kept = memory.allocate(1, stream, Site::none());
  memory.free(memory.allocate(5 * MiB, stream, Site::none()));
  EXPECT_EQ(memory.peak_allocated_bytes(), 5 * MiB + 512);
  EXPECT_EQ(memory.peak_reserved_bytes(), 22 * MiB);
  memory.reset_peak();
  EXPECT_EQ(memory.peak_allocated_bytes(), 512U);
  EXPECT_EQ(memory.stats().allocated_bytes.large_pool.peak, 0);
  EXPECT_EQ(memory.stats().allocation.all.allocated, 2);
  memory.reset_accumulated();
  EXPECT_EQ(memory.stats().allocation.all.allocated, 0);
  EXPECT_EQ(memory.stats().allocation.all.freed, 0);
  EXPECT_EQ(memory.stats().allocation.all.current, 1);
  memory.free(kept);
}

TEST(CachingAllocatorFigures, MakeATable) {
  cuda::MemoryStats stats;
  stats.num_ooms = 3;
  stats.allocated_bytes.all = {512, 5 << 20, 300 << 20, 7000};
  stats.allocated_bytes.small_pool.peak = 3000;
  stats.allocation.all = {2, 10, 900000, 5};
  const std::string table = summary_table(stats, 1);
  size_t lines = 0, start = 0;
  for (size_t end = 0; (end = table.find('\n', start)) != std::string::npos; start = end + 1, ++lines)
    EXPECT_EQ(end - start, 77U) << table.substr(start, 80);
  EXPECT_EQ(lines, 7 + 9 * 4U);
  EXPECT_NE(table.find("|                  tandem CUDA memory summary, device ID 1                  |"), std::string::npos) << table;
  EXPECT_NE(table.find("|            CUDA OOMs: 3             |        cudaMalloc retries: 0        |"), std::string::npos) << table;
  EXPECT_NE(table.find("| Allocated memory      |    512 B   |   5120 KiB | 307200 KiB |   7000 B   |"), std::string::npos) << table;
  EXPECT_NE(table.find("|       from small pool |      0 B   |      2 KiB |"), std::string::npos) << table;  // in the unit of its column
  EXPECT_NE(table.find("| Allocations           |       2    |      10    |     900 K  |       5    |"), std::string::npos) << table;
}

TEST(CachingAllocatorFigures, HaveReadableSizes) {
  EXPECT_EQ(readable_size(0), "0 bytes");
  EXPECT_EQ(readable_size(1024), "1024 bytes");
  EXPECT_EQ(readable_size(1536), "1.50 KiB");
  EXPECT_EQ(readable_size(20 * MiB), "20.00 MiB");
  EXPECT_EQ(readable_size(4096 * MiB), "4.00 GiB");
}

TEST(CachingAllocatorThreads, ShareOneGpu) {
  FakeDriver driver(200 * MiB);
  CachingAllocator memory(driver, 0);
  const StreamRecord* const streams[] = {driver.stream(), driver.stream(), driver.stream(), driver.stream()};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<Block*> held;
      for (int step = 0; step < 10000; ++step) {
        if (held.size() < 20 && random() % 2) {
          try {
            Block* const block = memory.allocate(1 + random() % (step % 50 == 0 ? 15 * MiB : 100000), streams[t], Site::here());
            std::memset(block->address, t + 1, std::min<size_t>(block->requested, 64));
            held.push_back(block);
          } catch (const OutOfMemoryError&) {
          }
        } else if (!held.empty()) {
          Block* const block = held.back();
          held.pop_back();
          wrong += block->address[0] != t + 1;
          if (random() % 4 == 0) memory.record_stream(block, streams[(t + 1) % 4]);
          memory.free(block);
        }
        if (step % 500 == 0) memory.empty_cache(Site::none());
        if (step % 100 == 0) {
          char text[80];
          (void)memory.snapshot();
          (void)memory.describe(held.empty() ? nullptr : held[0]->address, text, sizeof text);
        }
      }
      for (Block* block : held) memory.free(block);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  memory.empty_cache(Site::none());
  expect_figures_as_in(memory.snapshot(), memory.stats());
  EXPECT_EQ(memory.allocated_bytes(), 0U);
  EXPECT_EQ(driver.used, 0U);
  EXPECT_EQ(driver.wrong_frees, 0);
}

}  // namespace
}  // namespace tandem::runtime
