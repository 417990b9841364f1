// The caching allocator's rules, on a driver whose streams move only when told: rounding, splitting, reuse, waiting, running out.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/allocator_fake_driver.h"
#include "runtime/caching_allocator.h"

namespace tandem::runtime {
namespace {

constexpr size_t MiB = size_t{1} << 20;
using Sizes = std::vector<size_t>;

class CachingAllocatorRules : public testing::Test {
 protected:
  Block* allocate(size_t bytes, const StreamRecord* stream) { return memory_.allocate(bytes, stream, Site::here("tests/rules.cpp", 7)); }
  Block* allocate(size_t bytes) { return allocate(bytes, stream_); }

  FakeDriver driver_{128 * MiB};
  const StreamRecord* stream_ = driver_.stream();
  const StreamRecord* other_ = driver_.stream();
  CachingAllocator memory_{driver_, 0};
};

TEST_F(CachingAllocatorRules, RoundsAsPyTorchDoes) {
  struct Case {
    size_t bytes, size, segment;
  };
  for (const Case& c :
       {Case{1, 512, 2 * MiB}, Case{512, 512, 2 * MiB}, Case{513, 1024, 2 * MiB}, Case{MiB, MiB, 2 * MiB},
        Case{MiB + 1, MiB + 512, 20 * MiB}, Case{5 * MiB, 5 * MiB, 20 * MiB}, Case{10 * MiB - 512, 10 * MiB - 512, 20 * MiB},
        Case{10 * MiB, 10 * MiB, 10 * MiB}, Case{10 * MiB + 1, 10 * MiB + 512, 12 * MiB}, Case{33 * MiB + 3, 34 * MiB, 34 * MiB}}) {
    FakeDriver driver;
    CachingAllocator memory(driver, 0);
    Block* const block = memory.allocate(c.bytes, driver.stream(), Site::none());
    EXPECT_EQ(block->size, c.size) << c.bytes;
    EXPECT_EQ(memory.allocated_bytes(), c.size) << c.bytes;
    EXPECT_EQ(memory.reserved_bytes(), c.segment) << c.bytes;
    EXPECT_EQ(driver.allocations, Sizes{c.segment}) << c.bytes;
    memory.free(block);
  }
}

TEST_F(CachingAllocatorRules, LeavesALargeRemainderOfAMiBWhole) {
  const size_t size = 9 * MiB + MiB / 2;
  Block* const first = allocate(size);
  Block* const second = allocate(size);
  EXPECT_EQ(driver_.allocations, Sizes{20 * MiB});
  EXPECT_EQ(first->size, size);
  EXPECT_EQ(second->size, 10 * MiB + MiB / 2);  // one MiB more than asked for, which is not worth splitting off
  EXPECT_EQ(memory_.allocated_bytes(), 20 * MiB);
  EXPECT_EQ(memory_.stats().requested_bytes.large_pool.current, static_cast<int64_t>(2 * size));
}

TEST_F(CachingAllocatorRules, TakesTheBestFit) {
  std::vector<Block*> blocks;
  for (const size_t size : {4096, 512, 2048, 512, 1024, 512, 8192, 512}) blocks.push_back(allocate(size));
  char* const address = blocks[4]->address;
  for (const size_t i : {0, 2, 4, 6}) memory_.free(blocks[i]);
  EXPECT_EQ(allocate(700)->address, address);
  EXPECT_EQ(allocate(1025)->size, 1536U);  // from the 2048 that is free
  EXPECT_EQ(driver_.allocations.size(), 1U);
}

TEST_F(CachingAllocatorRules, MergesFreedNeighboursInAnyOrder) {
  for (const std::vector<size_t>& order : {std::vector<size_t>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
    std::vector<Block*> blocks = {allocate(1000), allocate(2000), allocate(3000)};
    for (const size_t i : order) memory_.free(blocks[i]);
    const auto segments = memory_.snapshot();
    ASSERT_EQ(segments.size(), 1U);
    ASSERT_EQ(segments[0].blocks.size(), 1U);
    EXPECT_EQ(segments[0].blocks[0].size, 2 * MiB);
    EXPECT_EQ(segments[0].blocks[0].state, "inactive");
  }
}

TEST_F(CachingAllocatorRules, GivesAFreedBlockOnlyToItsOwnStream) {
  Block* const block = allocate(4000);
  char* const address = block->address;
  memory_.free(block);
  Block* const elsewhere = allocate(4000, other_);
  EXPECT_NE(elsewhere->address, address);
  EXPECT_EQ(driver_.allocations, (Sizes{2 * MiB, 2 * MiB}));
  EXPECT_EQ(allocate(4000)->address, address);
}

TEST_F(CachingAllocatorRules, WaitsForTheOtherStreamsOfAFreedBlock) {
  Block* const block = allocate(4000);
  char* const address = block->address;
  memory_.record_stream(block, other_);
  memory_.record_stream(block, other_);
  memory_.record_stream(block, stream_);  // its own: nothing to wait for
  memory_.free(block);
  EXPECT_EQ(driver_.events_made, 1);
  EXPECT_EQ(memory_.allocated_bytes(), 0U);
  EXPECT_EQ(memory_.stats().active_bytes.all.current, 4096);
  EXPECT_EQ(memory_.snapshot()[0].blocks[0].state, "active_pending_free");
  Block* const meanwhile = allocate(4000);
  EXPECT_NE(meanwhile->address, address);
  FakeDriver::pass(other_);
  memory_.free(meanwhile);
  Block* const again = allocate(4000);
  EXPECT_EQ(again->address, address);
  EXPECT_TRUE(again->uses.empty());
  memory_.free(again);  // the next use needs no event
  EXPECT_EQ(driver_.events_made, 1);
  EXPECT_EQ(memory_.stats().active_bytes.all.current, 0);
}

TEST_F(CachingAllocatorRules, WaitsForEachOfSeveralStreams) {
  const StreamRecord* const third = driver_.stream();
  Block* const block = allocate(30 * MiB);
  char* const address = block->address;
  memory_.record_stream(block, other_);
  memory_.record_stream(block, third);
  memory_.free(block);
  FakeDriver::pass(third);
  EXPECT_NE(allocate(30 * MiB)->address, address);
  FakeDriver::pass(other_);
  EXPECT_EQ(allocate(30 * MiB)->address, address);
}

TEST_F(CachingAllocatorRules, GivesBackCachedSegmentsBeforeItGivesUp) {
  memory_.free(allocate(50 * MiB));
  Block* const kept = allocate(20 * MiB);  // out of the 50, split
  memory_.free(allocate(60 * MiB, other_));
  EXPECT_EQ(memory_.reserved_bytes(), 110 * MiB);
  Block* const block = allocate(70 * MiB);
  EXPECT_EQ(block->size, 70 * MiB);
  EXPECT_EQ(driver_.frees, Sizes{60 * MiB});  // the split one stays
  EXPECT_EQ(FakeDriver::of(other_->handle).synchronized, 1);
  const auto stats = memory_.stats();
  EXPECT_EQ(stats.num_alloc_retries, 1);
  EXPECT_EQ(stats.num_ooms, 0);
  EXPECT_EQ(memory_.reserved_bytes(), 120 * MiB);
  memory_.free(kept);
  memory_.free(block);
  EXPECT_EQ(driver_.wrong_frees, 0);
}

TEST_F(CachingAllocatorRules, WaitsForPendingBlocksBeforeItGivesUp) {
  Block* const block = allocate(100 * MiB);
  char* const address = block->address;
  memory_.record_stream(block, other_);
  memory_.free(block);
  EXPECT_EQ(allocate(100 * MiB)->address, address);
  EXPECT_EQ(FakeDriver::of(other_->handle).synchronized, 1);
}

TEST_F(CachingAllocatorRules, WaitsForNoStreamThatIsHeldUpWhereAnotherWillDo) {
  const StreamRecord* const third = driver_.stream();
  memory_.free(allocate(60 * MiB, other_));
  memory_.free(allocate(62 * MiB, third));
  driver_.held_up = other_->handle;  // in a collective that waits for this thread, say
  EXPECT_EQ(allocate(61 * MiB)->size, 62 * MiB);
  EXPECT_EQ(driver_.frees, Sizes{62 * MiB});
  EXPECT_EQ(FakeDriver::of(other_->handle).synchronized, 0);
}

TEST_F(CachingAllocatorRules, LeavesStreamsThatAreBeingCapturedAlone) {
  Block* const used = allocate(20 * MiB, other_);
  memory_.record_stream(used, stream_);
  memory_.free(used);  // its use on stream_ was marked before the capture
  memory_.free(allocate(30 * MiB));
  memory_.free(allocate(40 * MiB, other_));
  driver_.begin_capture(stream_->handle);
  memory_.empty_cache(Site::none());
  EXPECT_EQ(FakeDriver::of(stream_->handle).synchronized, 0);
  EXPECT_EQ(FakeDriver::of(other_->handle).synchronized, 1);
  EXPECT_EQ(driver_.frees, Sizes{40 * MiB}) << "what lies on the captured stream stays";
  EXPECT_EQ(allocate(60 * MiB, other_)->size, 60 * MiB);
  EXPECT_THROW((void)allocate(60 * MiB, other_), OutOfMemoryError);
  EXPECT_EQ(FakeDriver::of(stream_->handle).synchronized, 0);
  (void)driver_.end_capture(stream_->handle);
  memory_.empty_cache(Site::none());
  EXPECT_EQ(driver_.frees, (Sizes{40 * MiB, 30 * MiB, 20 * MiB}));
}

TEST_F(CachingAllocatorRules, SaysWhatHoldsTheMemoryWhenItRunsOut) {
  std::vector<Block*> held;
  for (int i = 0; i < 3; ++i) held.push_back(memory_.allocate(30 * MiB, stream_, {"/home/me/model.cpp", 12}));
  for (int i = 0; i < 2; ++i) held.push_back(memory_.allocate(6 * MiB, stream_, {"data.cpp", 40 + i}));
  held.push_back(memory_.allocate(1, stream_, Site::none()));
  memory_.free(held[4]);
  held.erase(held.begin() + 4);
  for (int i = 0; i < 2; ++i) {
    try {
      (void)allocate(20 * MiB);
      FAIL() << "there is no room";
    } catch (const OutOfMemoryError& e) {
      EXPECT_EQ(
          std::string(e.message()),
          "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 128.00 MiB of which 16.00 MiB is free. Of the "
          "allocated "
          "memory 96.00 MiB is allocated by tandem, and 16.00 MiB is reserved but unallocated. Largest free block: 14.00 MiB. Let go of "
          "tensors, or use smaller batches. Held by: "
          "model.cpp:12 (90.00 MiB in 3 blocks), data.cpp:40 (6.00 MiB in 1 block), unknown:0 (512 bytes in 1 block)");
    }
  }
  EXPECT_EQ(memory_.stats().num_ooms, 2);
  EXPECT_EQ(memory_.stats().num_alloc_retries, 2);
  memory_.free(held[0]);
  Block* const block = allocate(20 * MiB);
  EXPECT_EQ(block->size, 20 * MiB);
  memory_.free(block);
  for (size_t i = 1; i < held.size(); ++i) memory_.free(held[i]);
  memory_.empty_cache(Site::none());
  EXPECT_EQ(driver_.used, 0U);
}

TEST_F(CachingAllocatorRules, RefusesImpossibleSizes) {
  for (const size_t bytes : {size_t{1} << 50, SIZE_MAX / 2, SIZE_MAX - 100, SIZE_MAX})
    EXPECT_THROW((void)allocate(bytes), OutOfMemoryError);
  EXPECT_EQ(memory_.stats().num_ooms, 4);
  memory_.free(allocate(1));
}

TEST_F(CachingAllocatorRules, StaysUsableWhenWaitingThrows) {
  memory_.free(allocate(100 * MiB));
  driver_.fail_next_synchronize = true;
  try {
    (void)allocate(120 * MiB);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.message().c_str(), "[matmul] the kernel failed");
  }
  EXPECT_EQ(memory_.reserved_bytes(), 100 * MiB);
  EXPECT_EQ(allocate(120 * MiB)->size, 120 * MiB);
}

TEST_F(CachingAllocatorRules, NeverGivesOutABlockWhoseUseCannotBeRecorded) {
  Block* const block = allocate(4000);
  char* const address = block->address;
  memory_.record_stream(block, other_);
  driver_.refuse_records = true;
  memory_.free(block);
  driver_.refuse_records = false;
  FakeDriver::pass(other_);
  for (int i = 0; i < 10; ++i) EXPECT_NE(allocate(4000)->address, address);
}

TEST_F(CachingAllocatorRules, EmptiesTheCacheOfWholeSegmentsOnly) {
  Block* const small = allocate(1);
  memory_.free(allocate(5 * MiB));
  memory_.free(allocate(12 * MiB, other_));
  memory_.empty_cache(Site::none());
  EXPECT_EQ(memory_.reserved_bytes(), 2 * MiB);
  EXPECT_EQ(FakeDriver::of(stream_->handle).synchronized, 1);
  EXPECT_EQ(FakeDriver::of(other_->handle).synchronized, 1);
  memory_.empty_cache(Site::none());
  EXPECT_EQ(memory_.reserved_bytes(), 2 * MiB);
  memory_.free(small);
  memory_.empty_cache(Site::none());
  EXPECT_EQ(memory_.reserved_bytes(), 0U);
  EXPECT_EQ(driver_.used, 0U);
  EXPECT_EQ(driver_.wrong_frees, 0);
}

TEST_F(CachingAllocatorRules, TellsTheDriverWhatIsGivenToANewOwner) {
  Block* const block = allocate(4000);
  EXPECT_EQ(driver_.forgotten, (std::pair<const void*, size_t>(block->address, 4096)));
}

TEST_F(CachingAllocatorRules, DescribesWhatLiesAtAnAddress) {
  Block* const first = memory_.allocate(4000, stream_, {"/a/b/file.cpp", 12});
  Block* const second = memory_.allocate(100, stream_, {"/a/b/other.cpp", 345});
  char text[100];
  ASSERT_TRUE(memory_.describe(first->address + 3999, text, sizeof text));
  EXPECT_STREQ(text, "4000 bytes allocated at file.cpp:12");
  ASSERT_TRUE(memory_.describe(driver_.user_address(0, second->address), text, sizeof text));
  EXPECT_STREQ(text, "100 bytes allocated at other.cpp:345");
  ASSERT_TRUE(memory_.describe(second->address, text, 10));
  EXPECT_STREQ(text, "100 bytes");
  memory_.record_stream(first, other_);
  memory_.free(first);
  ASSERT_TRUE(memory_.describe(first->address, text, sizeof text));
  EXPECT_STREQ(text, "4000 bytes, freed already, allocated at file.cpp:12");
  ASSERT_TRUE(memory_.describe(second->address + 512, text, sizeof text));
  EXPECT_STREQ(text, "2092544 bytes that no tensor holds");
  EXPECT_FALSE(memory_.describe(&memory_, text, sizeof text));
  EXPECT_FALSE(memory_.describe(nullptr, text, sizeof text));
}

TEST(CachingAllocatorEnd, GivesEverythingBack) {
  FakeDriver driver;
  {
    CachingAllocator memory(driver, 0);
    const StreamRecord* const other = driver.stream();
    Block* const block = memory.allocate(1000, driver.stream(), Site::none());
    memory.record_stream(block, other);
    memory.free(block);
    FakeDriver::pass(other);
    memory.free(memory.allocate(50 * MiB, other, Site::none()));
    Block* const late = memory.allocate(1000, driver.stream(), Site::none());
    memory.record_stream(late, other);
    memory.free(late);
  }
  EXPECT_EQ(driver.used, 0U);
  EXPECT_EQ(driver.wrong_frees, 0);
  EXPECT_EQ(driver.events_made, driver.events_destroyed);
}

}  // namespace
}  // namespace tandem::runtime
