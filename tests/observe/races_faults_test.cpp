// Mistakes with streams, each planted and named by its line, and each put right, which gives silence: no race, and no wait of the host.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "observe/races_fixture.h"
#include "runtime/driver.h"

namespace {

TEST_F(Races, ReadWithoutWaitStream) {
  for (const bool right : {false, true}) {
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      x.mul_(2), first = __LINE__;
    }
    if (right) main.wait_stream(side);
    const auto y = x + 1;
    if (right) expect_silence();
    else expect_race(first, __LINE__ - 2);
    settle();
  }
}

TEST_F(Races, TellsWhatIsKnownOfARace) {
  {
    const cuda::StreamGuard guard(side);
    x.mul_(2);
  }
  for (int i = 0; i < 3; ++i) (void)(x + 1);
  const auto reports = races.reports();
  ASSERT_EQ(reports.size(), 1U) << all(reports);
  const auto& report = reports[0];
  EXPECT_EQ(report.count, 3);
  EXPECT_EQ(report.first.name, "mul");
  EXPECT_TRUE(report.first.writes);
  EXPECT_EQ(report.first.stream, side.id());
  EXPECT_EQ(report.second.stream, main.id());
  EXPECT_FALSE(report.second.writes);
  EXPECT_EQ(report.second.device, td::gpu(0));
  EXPECT_EQ(report.device, td::gpu(0));
  EXPECT_EQ(report.address, x.impl().data);
  EXPECT_EQ(report.bytes, 4000U);
  EXPECT_EQ(report.sizes, td::Shape({1000}));
  EXPECT_EQ(report.dtype, td::kFloat32);
  EXPECT_NE(report.missing.find("wait_stream"), std::string::npos) << report.missing;
  races.clear();
}

TEST_F(Races, WriteWhileAnotherStreamReads) {
  for (const bool right : {false, true}) {
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      const auto y = x + 1;
      first = __LINE__ - 1;
    }
    if (right) main.wait_stream(side);
    x.mul_(2);
    if (right) expect_silence();
    else expect_race(first, __LINE__ - 2);
    settle();
  }
}

TEST_F(Races, ReadersNeedNotWaitForEachOther) {
  const auto y = x + 1;
  const cuda::StreamGuard guard(side);
  const auto z = x + 1;
  expect_silence();
}

TEST_F(Races, MissingRecordStream) {
  for (const bool right : {false, true}) {
    auto temporary = td::ones({1000}, td::gpu(0));
    const void* const address = temporary.impl().data;
    side.wait_stream(main);
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      const auto y = temporary + 1;
      first = __LINE__ - 1;
    }
    if (right) temporary.record_stream(side);
    temporary = td::Tensor();
    const auto next = td::empty({1000}, td::gpu(0));
    ASSERT_TRUE(right || next.impl().data == address);  // used rightly, it is free again whenever the side stream has done its work
    next.fill_(3);
    const int second = __LINE__ - 1;
    if (right) {
      expect_silence();
    } else {
      ASSERT_EQ(races.reports().size(), 1U) << all(races.reports());
      EXPECT_NE(races.reports()[0].missing.find("record_stream"), std::string::npos) << races.reports()[0].text;
      expect_race(first, second);
    }
    settle();
  }
}

/// Memory belongs to the stream that it was asked for on: what that stream did with it before may be under way.
TEST_F(Races, BlockReusedEarly) {
  for (const bool right : {false, true}) {
    auto old = td::ones({1000}, td::gpu(0));
    const void* const address = old.impl().data;
    int first = 0;
    old.mul_(2), first = __LINE__;
    old = td::Tensor();
    const auto next = td::empty({1000}, td::gpu(0));
    ASSERT_EQ(next.impl().data, address);
    if (right) side.wait_stream(main);
    int second = 0;
    {
      const cuda::StreamGuard guard(side);
      next.fill_(3), second = __LINE__;
    }
    if (right) expect_silence();
    else expect_race(first, second);
    settle();
  }
}

TEST_F(Races, EventRecordedTooEarly) {
  for (const bool right : {false, true}) {
    cuda::Event event;
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      const auto before = td::ones({10}, td::gpu(0));
      if (!right) event.record(side);
      x.mul_(2), first = __LINE__;
      if (right) event.record(side);
    }
    event.wait(main);
    const auto y = x + 1;
    const int second = __LINE__ - 1;
    if (right) {
      expect_silence();
    } else {
      ASSERT_EQ(races.reports().size(), 1U) << all(races.reports());
      EXPECT_NE(races.reports()[0].text.find("too early"), std::string::npos) << races.reports()[0].text;
      expect_race(first, second);
    }
    settle();
  }
}

TEST_F(Races, HostWritesWhileACopyReads) {
  const auto pinned = td::ones({1000}).pin_memory();
  for (const bool right : {false, true}) {
    const auto there = pinned.to(td::gpu(0), {.non_blocking = true});
    const int first = __LINE__ - 1;
    if (right) allowed([&] { main.synchronize(); });
    pinned.fill_(2);
    if (right) expect_silence();
    else expect_race(first, __LINE__ - 2);
    settle();
  }
}

TEST_F(Races, HostReadsBeforeACopyHasArrived) {
  for (const bool right : {false, true}) {
    const auto here = x.to(td::cpu(), {.non_blocking = true});
    const int first = __LINE__ - 1;
    cuda::Event event;
    event.record(main);
    if (right) allowed([&] { event.synchronize(); });
    const auto sum = here.sum();
    if (right) expect_silence();
    else expect_race(first, __LINE__ - 2);
    settle();
  }
}

/// The line of `data_ptr` is not known.
TEST_F(Races, HostTakesTheAddressOfWhatIsBeingCopied) {
  for (const bool right : {false, true}) {
    const auto here = x.to(td::cpu(), {.non_blocking = true});
    const int first = __LINE__ - 1;
    if (right) allowed([&] { main.synchronize(); });
    (void)here.data_ptr<float>();
    const auto reports = races.reports();
    ASSERT_EQ(reports.size(), right ? 0U : 1U) << all(reports);
    if (!right) {
      EXPECT_EQ(reports[0].first.line, first);
      EXPECT_EQ(reports[0].second.name, "data_ptr");
      EXPECT_EQ(reports[0].second.stream, -1);
    }
    races.clear();
    settle();
  }
}

TEST_F(Races, GraphReplayedOnMemoryThatIsBeingWritten) {
  cuda::Graph graph;
  td::Tensor y;
  int captured = 0;
  allowed([&] { cuda::graph(graph, [&] { y = x + 1, captured = __LINE__; }); });
  expect_silence();
  for (const bool right : {false, true}) {
    int first = 0;
    {
      const cuda::StreamGuard guard(side);
      x.mul_(2), first = __LINE__;
    }
    if (right) main.wait_stream(side);
    graph.replay();
    const int replayed = __LINE__ - 1;
    if (right) {
      expect_silence();
    } else {
      ASSERT_EQ(races.reports().size(), 1U) << all(races.reports());
      EXPECT_NE(races.reports()[0].text.find("races_faults_test.cpp:" + std::to_string(replayed)), std::string::npos);
      expect_race(first, captured);
    }
    settle();
  }
}

TEST_F(Races, ResultOfAGraphReadElsewhere) {
  cuda::Graph graph;
  td::Tensor y;
  int captured = 0;
  allowed([&] { cuda::graph(graph, [&] { y = x + 1, captured = __LINE__; }); });
  for (const bool right : {false, true}) {
    graph.replay();
    if (right) side.wait_stream(main);
    int second = 0;
    {
      const cuda::StreamGuard guard(side);
      const auto z = y + 1;
      second = __LINE__ - 1;
    }
    if (right) expect_silence();
    else expect_race(captured, second);
    settle();
  }
}

/// A graph's own branches, which its capture shows.
TEST_F(Races, BranchesOfAGraph) {
  const cuda::Stream other(td::gpu(0));
  for (const bool right : {false, true}) {
    cuda::Graph graph;
    const auto y = x.clone();
    settle();
    int first = 0, second = 0;
    {
      const cuda::StreamGuard guard(side);
      graph.capture_begin();
      other.wait_stream(side);
      {
        const cuda::StreamGuard branch(other);
        y.mul_(2), first = __LINE__;
      }
      if (right) side.wait_stream(other);
      y.add_(1), second = __LINE__;
      side.wait_stream(other);
      graph.capture_end();
    }
    if (right) expect_silence();
    else expect_race(first, second);
    graph.replay();
    expect_silence();
    settle();
  }
}

TEST_F(Races, GradientReadElsewhere) {
  const auto w = td::ones({1000}, td::gpu(0)).requires_grad_();
  settle();
  for (const bool right : {false, true}) {
    w.grad() = td::Tensor();
    const auto loss = (w * x).sum();
    loss.backward();
    if (right) side.wait_stream(main);
    int second = 0;
    {
      const cuda::StreamGuard guard(side);
      const auto norm = w.grad() + 1;
      second = __LINE__ - 1;
    }
    if (right) {
      expect_silence();
    } else {
      ASSERT_EQ(races.reports().size(), 1U) << all(races.reports());
      EXPECT_EQ(races.reports()[0].second.line, second);
      races.clear();
    }
    settle();
  }
}

TEST_F(Races, OverlappingAndDisjointViews) {
  const auto table = td::ones({100, 10}, td::gpu(0));
  settle();
  const auto write = [&](const td::Tensor& mine, const td::Tensor& other, int& first, int& second) {
    mine.mul_(2), first = __LINE__;
    {
      const cuda::StreamGuard guard(side);
      other.mul_(2), second = __LINE__;
    }
  };
  int first = 0, second = 0;
  write(table.slice(0, 0, 60), table.slice(0, 40, 100), first, second);
  expect_race(first, second);
  settle();
  write(table.slice(0, 0, 50), table.slice(0, 50, 100), first, second);
  expect_silence();
  settle();
  write(table.slice(1, 0, 5), table.slice(1, 5, 10), first, second);  // columns: between each other's
  expect_silence();
  settle();
  write(table.slice(1, 0, 5), table, first, second);
  expect_race(first, second);
}

TEST_F(Races, CopyBetweenGpusReadOnTheWrongStream) {
  if (td::num_gpus() < 2) GTEST_SKIP() << "needs two GPUs";
  for (const bool right : {false, true}) {
    const auto moved = x.to(td::gpu(1));
    const int first = __LINE__ - 1;
    const cuda::Stream other(td::gpu(1));
    if (right) other.wait_stream(cuda::current_stream(td::gpu(1)));
    int second = 0;
    {
      const cuda::StreamGuard guard(other);
      const auto y = moved + 1;
      second = __LINE__ - 1;
    }
    if (right) expect_silence();
    else expect_race(first, second);
    settle();
  }
  const auto moved = x.to(td::gpu(1));
  const auto y = moved + 1;
  x.mul_(2);
  expect_silence();
}

TEST_F(Races, CollectiveReadBeforeItsWait) {
  if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "ranks that share a real GPU exchange by way of the host";
  for (const bool right : {false, true}) {
    int first = 0, second = 0;
    td::distributed::run_ranks(2, [&](int rank) {
      const auto t = td::ones({1000}, td::gpu(0));
      auto work = td::distributed::all_reduce(t, td::distributed::ReduceOp::SUM, {.async_op = true});
      if (rank == 0) first = __LINE__ - 1;
      if (right || rank == 1) work.wait();
      const auto y = t + 1;
      if (rank == 0) second = __LINE__ - 1;
      work.wait();
    });
    settle();
    if (right) expect_silence();
    else expect_race(first, second);
  }
}

TEST_F(Races, WhatTheHostHasSeenIsOrdered) {
  int second = 0;
  const auto write = [&] {
    const cuda::StreamGuard guard(side);
    x.mul_(2), second = __LINE__;
  };
  write();
  allowed([&] { side.synchronize(); });
  (void)(x + 1);
  const int first = __LINE__ - 1;
  write();
  expect_race(first, second);  // the sum was not waited for
  settle();
  write();
  while (!side.query()) std::this_thread::yield();
  allowed([&] { (void)(x + 1).cpu(); });
  write();
  cuda::Event event;
  event.record(side);
  while (!event.query()) std::this_thread::yield();
  (void)(x + 1);
  expect_silence();
}

TEST_F(Races, TwoCheckersAndThreads) {
  std::optional<td::races::Checker> second(std::in_place);
  std::thread([&] {
    const cuda::StreamGuard guard(side);
    x.mul_(2);
  }).join();
  const auto y = x + 1;
  EXPECT_EQ(second->reports().size(), 1U);
  second.reset();
  EXPECT_EQ(races.reports().size(), 1U) << "threads have one clock, but their streams have not";
  EXPECT_EQ(races.forgotten(), 0);
  races.clear();
}

/// Giving memory back waits for the streams that graphs were replayed on: what the host has seen then is told.
TEST_F(Races, EmptyCacheWaitsForReplays) {
  cuda::Graph graph;
  auto input = td::ones({1000}, td::gpu(0));
  const void* const address = input.impl().data;
  td::Tensor y;
  allowed([&] { cuda::graph(graph, [&] { y = input + 1; }); });
  {
    const cuda::StreamGuard guard(side);
    graph.replay();
  }
  graph.reset();
  y = td::Tensor();
  allowed([] { cuda::empty_cache(); });
  input = td::Tensor();
  const auto next = td::ones({1000}, td::gpu(0));
  EXPECT_EQ(next.impl().data, address);
  expect_silence();
}

/// More ranges than are kept: the oldest are given up, and that is told.
TEST_F(Races, SaysWhatItForgot) {
  const auto big = td::ones({140000}, td::gpu(0));
  for (int64_t i = 0; i < 70000; ++i) (void)big.slice(0, 2 * i, 2 * i + 1).zero_();
  EXPECT_GT(races.forgotten(), 0);
  expect_silence();
}

}  // namespace
