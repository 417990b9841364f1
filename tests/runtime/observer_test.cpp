// What an observer is told besides kernels: copies, waits, the order of streams, events, graphs and memory. Of kernels: tests/ops.
#include "runtime/observer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "runtime/stream_record.h"
#include "tandem.h"

namespace td = tandem;
namespace cuda = td::cuda;
namespace facts = td::runtime::facts;

namespace {

/// Keeps all that is told while it lives.
class Watch final : public td::runtime::Observer {
 public:
  Watch() { td::runtime::add_observer(*this); }
  ~Watch() override { td::runtime::remove_observer(*this); }
  void allow(const facts::Copy& copy) override {
    if (refuses && copy.waits) td::fail('[', copy.op, "] refused");
  }
  void begin(const facts::Copy& copy) noexcept override { keep(begun, copy); }
  void end(const facts::Copy& copy) noexcept override { keep(copies, copy); }
  void end(const facts::Wait& wait) noexcept override { keep(waits, wait); }
  void end(const facts::Replay& replay) noexcept override { keep(replays, replay); }
  void begin(const facts::Scope& scope) noexcept override { keep(scopes, scope); }
  void mark(const facts::Recorded& mark) noexcept override { keep(recorded, mark); }
  void mark(const facts::EventMark& mark) noexcept override { keep(events, mark); }
  void mark(const facts::Order& mark) noexcept override { keep(orders, mark); }
  void mark(const facts::CaptureMark& mark) noexcept override { keep(captures, mark); }
  void mark(const facts::MemoryMark& mark) noexcept override { keep(memory, mark); }
  void missed() noexcept override { ++missing; }
  /// The copies told of so far, while others work.
  size_t copies_so_far() {
    const std::lock_guard lock(mutex_);
    return copies.size();
  }

  bool refuses = false;
  std::atomic<int> missing{0};
  std::vector<facts::Copy> begun, copies;
  std::vector<facts::Wait> waits;
  std::vector<facts::Replay> replays;
  std::vector<facts::Scope> scopes;
  std::vector<facts::Recorded> recorded;
  std::vector<facts::EventMark> events;
  std::vector<facts::Order> orders;
  std::vector<facts::CaptureMark> captures;
  std::vector<facts::MemoryMark> memory;

 private:
  template <class Fact>
  void keep(std::vector<Fact>& list, const Fact& fact) {
    const std::lock_guard lock(mutex_);
    list.push_back(fact);
  }
  std::mutex mutex_;
};

bool is_here(td::Site site) { return std::string_view(site.file).ends_with("observer_test.cpp"); }

TEST(Observer, IsToldThatThereWasNoMemoryToTell) {
  Watch watch;
  td::profiler::Profile profile;
  td::races::Checker races;
  const int64_t forgotten = races.forgotten();
  td::runtime::tell([]() -> facts::Order { throw std::bad_alloc(); });
  {
    const td::runtime::Telling telling([]() -> facts::Kernel { throw std::bad_alloc(); });
  }
  EXPECT_EQ(watch.missing, 2);
  profile.stop();
  EXPECT_EQ(profile.dropped(), 2U);
  EXPECT_EQ(races.forgotten() - forgotten, 2);
  EXPECT_TRUE(watch.orders.empty());
  // Other errors are the teller's.
  EXPECT_THROW(td::runtime::tell([]() -> facts::Order { throw std::runtime_error("x"); }), std::runtime_error);
}

TEST(Observer, IsToldOfCopies) {
  const auto x = td::ones({100}, td::gpu(0));
  const auto pinned = td::ones({100}).pin_memory();
  Watch watch;
  (void)x.cpu();
  (void)x.to(td::gpu(1));
  (void)pinned.to(td::gpu(0), {.non_blocking = true});
  (void)td::ones({100}).to(td::gpu(0), {.non_blocking = true});
  (void)x.sum().item<float>();
  ASSERT_EQ(watch.copies.size(), 5U);
  EXPECT_EQ(watch.begun.size(), 5U);
  const auto& [to_host, to_peer, from_pinned, from_pageable, item] =
      std::tie(watch.copies[0], watch.copies[1], watch.copies[2], watch.copies[3], watch.copies[4]);
  EXPECT_STREQ(to_host.op, "cpu");
  EXPECT_TRUE(is_here(to_host.site) && to_host.waits && !to_host.to_pinned);
  EXPECT_EQ(to_host.bytes, 400U);
  EXPECT_EQ(to_host.from, x.impl().data);
  EXPECT_EQ(to_peer.to_device, td::gpu(1));
  EXPECT_FALSE(to_peer.waits);
  EXPECT_EQ(to_peer.stream, td::runtime::current_stream(0)) << "the source's";
  EXPECT_TRUE(from_pinned.from_pinned && from_pinned.non_blocking && !from_pinned.waits);
  EXPECT_TRUE(!from_pageable.from_pinned && from_pageable.non_blocking && from_pageable.waits);
  EXPECT_STREQ(item.op, "item");
  EXPECT_EQ(item.bytes, 4U);
}

TEST(Observer, RefusesWhatThenDoesNotHappen) {
  const auto x = td::ones({100}, td::gpu(0));
  Watch watch;
  watch.refuses = true;
  EXPECT_THROW((void)x.cpu(), td::Error);
  EXPECT_THROW((void)x.sum().item<float>(), td::Error);
  EXPECT_NO_THROW((void)x.to(td::gpu(1)));
  watch.refuses = false;
  EXPECT_EQ(x.sum().item<float>(), 100.f);
  ASSERT_EQ(watch.copies.size(), 2U);
  EXPECT_EQ(watch.begun.size(), 2U) << "what is refused does not begin";
}

TEST(Observer, IsToldOfWaitsAndOfOrder) {
  const cuda::Stream side(td::gpu(0));
  cuda::Event event;
  const auto stream = cuda::current_stream(td::gpu(0));
  Watch watch;
  side.wait_stream(stream);
  event.record(side);
  event.wait(stream);
  event.synchronize();
  EXPECT_TRUE(event.query());
  side.synchronize();
  EXPECT_TRUE(side.query());
  cuda::synchronize(td::gpu(0));
  ASSERT_EQ(watch.waits.size(), 3U);
  EXPECT_EQ(watch.waits[0].kind, facts::Wait::Event);
  EXPECT_EQ(watch.waits[1].kind, facts::Wait::Stream);
  EXPECT_EQ(watch.waits[1].stream, side.record());
  EXPECT_EQ(watch.waits[2].kind, facts::Wait::Device);
  for (const auto& wait : watch.waits) EXPECT_TRUE(is_here(wait.site) && wait.device == td::gpu(0));
  ASSERT_EQ(watch.orders.size(), 2U);
  EXPECT_EQ(watch.orders[0].earlier, stream.record());
  EXPECT_EQ(watch.orders[0].later, side.record());
  EXPECT_EQ(watch.orders[1].earlier, side.record());
  EXPECT_EQ(watch.orders[1].later, nullptr) << "the host has seen the end";
  ASSERT_EQ(watch.events.size(), 3U);
  EXPECT_EQ(watch.events[0].kind, facts::EventMark::Recorded);
  EXPECT_EQ(watch.events[1].kind, facts::EventMark::WaitedFor);
  EXPECT_EQ(watch.events[1].stream, stream.record());
  EXPECT_EQ(watch.events[2].kind, facts::EventMark::Passed);
  EXPECT_EQ(watch.waits[0].event, watch.events[0].event);
}

TEST(Observer, IsToldOfGraphs) {
  auto x = td::ones({10}, td::gpu(0));
  cuda::Graph graph;
  const cuda::Stream side(td::gpu(0));
  Watch watch;
  {
    const cuda::StreamGuard guard(side);
    graph.capture_begin();
    x.mul_(2);
    graph.capture_end();
  }
  graph.replay();
  graph.reset();
  ASSERT_EQ(watch.captures.size(), 3U);
  EXPECT_EQ(watch.captures[0].kind, facts::CaptureMark::Began);
  EXPECT_EQ(watch.captures[0].stream, side.record());
  EXPECT_EQ(watch.captures[1].kind, facts::CaptureMark::Ended);
  EXPECT_EQ(watch.captures[2].kind, facts::CaptureMark::Gone);
  ASSERT_EQ(watch.replays.size(), 1U);
  EXPECT_EQ(watch.replays[0].graph, watch.captures[0].graph);
  EXPECT_EQ(watch.replays[0].stream, td::runtime::current_stream(0));
  cuda::synchronize(td::gpu(0));
}

TEST(Observer, IsToldOfMemory) {
  cuda::synchronize(td::gpu(0));
  cuda::empty_cache();
  Watch watch;
  const auto kinds = [&](const void* address) {
    std::vector<int> all;
    for (const auto& mark : watch.memory)
      if (mark.address == address) all.push_back(mark.kind);
    return all;
  };
  using Mark = facts::MemoryMark;
  const void* address = nullptr;
  {
    const auto x = td::empty({3 << 20}, {.dtype = td::kUInt8, .device = td::gpu(0)});
    address = x.impl().data;
    ASSERT_EQ(kinds(address), (std::vector<int>{Mark::SegmentTaken, Mark::Allocated}));
    EXPECT_EQ(watch.memory.back().requested, size_t{3} << 20);
    EXPECT_TRUE(is_here(watch.memory.back().site));
    x.record_stream(cuda::Stream(td::gpu(0)));
  }
  cuda::empty_cache();
  EXPECT_EQ(kinds(address),
            (std::vector<int>{Mark::SegmentTaken, Mark::Allocated, Mark::Used, Mark::Freed, Mark::Reusable, Mark::SegmentReturned}));
  EXPECT_THROW((void)td::empty({int64_t{1} << 40}, td::gpu(0)), td::OutOfMemoryError);
  EXPECT_EQ(watch.memory.back().kind, Mark::Exhausted);
  {
    const auto pinned = td::empty({100}, {.pin_memory = true});
    address = pinned.impl().data;
  }
  EXPECT_EQ(kinds(address), (std::vector<int>{Mark::Allocated, Mark::Freed, Mark::Reusable}));
}

TEST(Observer, IsToldWhatIsRecordedAndWalked) {
  const auto x = td::ones({3}, {.requires_grad = true});
  Watch watch;
  const auto y = (x * x).sum();
  y.backward();
  ASSERT_EQ(watch.recorded.size(), 2U);
  EXPECT_STREQ(watch.recorded[0].name, "MulBackward0");
  EXPECT_LT(watch.recorded[0].sequence, watch.recorded[1].sequence);
  EXPECT_TRUE(is_here(watch.recorded[0].site));
  ASSERT_EQ(watch.scopes.size(), 3U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_STREQ(watch.scopes[i].name, watch.recorded[1 - i].name);
    EXPECT_EQ(watch.scopes[i].node, watch.recorded[1 - i].node);
    EXPECT_EQ(watch.scopes[i].sequence, watch.recorded[1 - i].sequence);
    EXPECT_EQ(watch.scopes[i].kind, facts::Scope::Backward);
  }
  EXPECT_STREQ(watch.scopes[2].name, "AccumulateGrad");
}

/// Observers come and go while others work.
TEST(Observer, ComesAndGoesBesideThreads) {
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      const auto x = td::ones({100}, td::gpu(i));
      while (!over) (void)(x * 2).sum().item<float>();
    });
  size_t told = 0;
  for (int i = 0; i < 200 || told == 0; ++i) {
    Watch watch;
    std::this_thread::yield();
    const auto other = std::make_unique<Watch>();
    (void)td::ones({1}, td::gpu(0)).cpu();
    told += watch.copies_so_far();
  }
  over = true;
  for (auto& thread : threads) thread.join();
  EXPECT_GE(told, 200U);
}

}  // namespace
