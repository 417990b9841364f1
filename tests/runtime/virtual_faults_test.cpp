// Errors in queued work: told once, at the next synchronisation, with the operation's name and line; what was skipped stays marked until
// written again.
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "base/dtype.h"
#include "expect_error.h"
#include "runtime/virtual/faults.h"
#include "virtual_gpus.h"

namespace tandem::testing {
namespace {

constexpr Site kLine{"model.cpp", 42};
const auto kBadIndex = [](const Queue& queue) { queue.status->report(Trouble::IndexOutOfRange, 99, 10); };
const auto kNothing = [](const Queue&) {};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct VirtualFaults : ::testing::Test {
  VirtualGpus gpus;
  StreamHandle stream = gpus.stream(0), other = gpus.stream(1);
  char* memory = static_cast<char*>(gpus.driver.allocate(0, 4096));
  [[nodiscard]] Range range(size_t from, size_t to) const { return {memory + from, to - from}; }
  void fail_on(StreamHandle on, std::vector<Range> writes = {}) { gpus.run(on, kBadIndex, std::move(writes), {}, "embedding", kLine); }
  std::string unreadable(size_t from, size_t to) {
    try {
      gpus.driver.check_readable(0, memory + from, to - from);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(VirtualFaults, IsThrownOnceWithItsOperationAndLine) {
  fail_on(stream);
  EXPECT_ERROR(gpus.synchronize(stream), IndexError, "[embedding] index 99 is out of bounds for a dimension with size 10: give 0 to 9");
  EXPECT_EQ(gpus.error_of(stream), "");
  fail_on(stream);
  EXPECT_TRUE(contains(gpus.error_of(stream), "model.cpp:42"));
  fail_on(stream);
  EXPECT_ERROR(gpus.driver.synchronize_device(0, kLine), IndexError, "[embedding]");
  EXPECT_NO_THROW(gpus.driver.synchronize_device(0, kLine));
}

TEST_F(VirtualFaults, ReachesOnlyThoseWhoWaitForIt) {
  fail_on(stream);
  EXPECT_EQ(gpus.error_of(other), "");
  EXPECT_NO_THROW(gpus.driver.synchronize_device(1, kLine));
  EXPECT_NE(gpus.error_of(stream), "");
}

TEST_F(VirtualFaults, LaterWorkIsSkippedButHostFunctionsAndEventsAreNot) {
  int kernels = 0, functions = 0;
  const EventHandle event = gpus.driver.create_event(0, true);
  fail_on(stream);
  gpus.run(stream, [&](const Queue&) { ++kernels; });
  gpus.driver.host_function(
      stream, [](void* count) { ++*static_cast<int*>(count); }, &functions);
  gpus.driver.record_event(event, stream);
  while (!gpus.driver.query_event(event)) std::this_thread::yield();
  EXPECT_EQ(kernels, 0);
  EXPECT_EQ(functions, 1);
  EXPECT_NE(gpus.error_of(stream), "");
  gpus.run(stream, [&](const Queue&) { ++kernels; });
  EXPECT_EQ(gpus.error_of(stream), "");
  EXPECT_EQ(kernels, 1);  // told and free again
  gpus.driver.destroy_event(event);
}

TEST_F(VirtualFaults, AStreamThatWaitsIsPoisonedTooAndBothAreFreedByOneTelling) {
  int kernels = 0;
  fail_on(stream);
  gpus.record_and_wait(stream, other);
  gpus.run(other, [&](const Queue&) { ++kernels; });
  EXPECT_TRUE(contains(gpus.error_of(other), "[embedding]"));
  EXPECT_EQ(kernels, 0);
  EXPECT_EQ(gpus.error_of(stream), "");
  gpus.run(other, [&](const Queue&) { ++kernels; });
  EXPECT_EQ(gpus.error_of(other), "");
  EXPECT_EQ(kernels, 1);
}

TEST_F(VirtualFaults, WorkBeforeTheErrorPoisonsNobody) {
  int kernels = 0;
  gpus.run(stream, kNothing);
  const EventHandle good = gpus.driver.create_event(0, false), bad = gpus.driver.create_event(0, false);
  gpus.driver.record_event(good, stream);
  fail_on(stream);
  gpus.driver.record_event(bad, stream);
  EXPECT_NO_THROW(gpus.driver.synchronize_event(good, kLine));
  gpus.driver.wait_event(other, good);
  gpus.run(other, [&](const Queue&) { ++kernels; });
  EXPECT_EQ(gpus.error_of(other), "");
  EXPECT_EQ(kernels, 1);
  EXPECT_ERROR(gpus.driver.synchronize_event(bad, kLine), IndexError, "[embedding]");
  EXPECT_EQ(gpus.error_of(stream), "");
  gpus.driver.destroy_event(good);
  gpus.driver.destroy_event(bad);
}

TEST_F(VirtualFaults, TheFirstErrorOfAStreamIsTheOneTold) {
  fail_on(stream);
  gpus.run(
      stream, [](const Queue& queue) { queue.status->report(Trouble::DivisionByZero); }, {}, {}, "remainder", kLine);
  EXPECT_TRUE(contains(gpus.error_of(stream), "[embedding]"));
  EXPECT_EQ(gpus.error_of(stream), "");
}

TEST_F(VirtualFaults, TwoErrorsOfAGpuAreToldOneAfterTheOther) {
  const auto second = gpus.stream(0);
  fail_on(second);
  while (!gpus.driver.query_stream(second)) std::this_thread::yield();
  gpus.run(
      stream, [](const Queue& queue) { queue.status->report(Trouble::DivisionByZero); }, {}, {}, "remainder", kLine);
  EXPECT_ERROR(gpus.driver.synchronize_device(0, kLine), Error, "[embedding]");  // the earlier one first
  EXPECT_ERROR(gpus.driver.synchronize_device(0, kLine), Error, "[remainder] ZeroDivisionError: integer division by zero");
  EXPECT_NO_THROW(gpus.driver.synchronize_device(0, kLine));
}

TEST_F(VirtualFaults, TheTypeOfTheErrorTellsItsKind) {
  gpus.run(
      stream, [](const Queue& queue) { queue.status->report(Trouble::Unsupported, static_cast<int64_t>(DType::Int8)); }, {}, {}, "matmul",
      kLine);
  EXPECT_ERROR(gpus.synchronize(stream), NotImplementedError, "[matmul] has no kernel for int8");
  gpus.run(
      stream, [](const Queue& queue) { queue.status->report(Trouble::Library, 5); }, {}, {}, "matmul", kLine);
  EXPECT_ERROR(gpus.synchronize(stream), Error, "code 5");
}

TEST_F(VirtualFaults, WhatATaskThrowsIsItsError) {
  gpus.run(
      stream, [](const Queue&) { throw std::runtime_error("disk full"); }, {}, {}, "save", kLine);
  EXPECT_ERROR(gpus.synchronize(stream), Error, "[save] disk full (queued at model.cpp:42 on cuda:0)");
  gpus.run(
      stream, [](const Queue&) { throw 3; }, {}, {}, "save", kLine);
  EXPECT_ERROR(gpus.synchronize(stream), Error, "[save]");
}

TEST_F(VirtualFaults, MemoryThatWasNotWrittenCannotBeReadUntilItIs) {
  fail_on(stream, {range(0, 100)});
  gpus.run(stream, kNothing, {range(200, 300)}, {}, "mul", kLine);
  EXPECT_NE(gpus.error_of(stream), "");
  EXPECT_TRUE(contains(unreadable(0, 4), "[embedding]"));
  EXPECT_TRUE(contains(unreadable(96, 250), "[embedding]"));
  EXPECT_TRUE(contains(unreadable(299, 300), "[mul] (model.cpp:42) was skipped"));
  EXPECT_TRUE(contains(unreadable(299, 300), "[embedding] index 99"));
  EXPECT_EQ(unreadable(100, 200), "");
  EXPECT_EQ(unreadable(300, 400), "");
  EXPECT_EQ(unreadable(0, 0), "");
  gpus.run(stream, kNothing, {range(0, 60)});
  gpus.run(stream, kNothing, {range(210, 220)});
  gpus.synchronize(stream);
  EXPECT_EQ(unreadable(0, 60), "");
  EXPECT_NE(unreadable(0, 61), "");
  EXPECT_EQ(unreadable(210, 220), "");
  EXPECT_NE(unreadable(209, 220), "");
  EXPECT_NE(unreadable(210, 221), "");
  gpus.run(stream, kNothing, {Range{memory, 4096, false}});  // touches only some of it
  gpus.synchronize(stream);
  EXPECT_NE(unreadable(60, 61), "");
  gpus.driver.forget(0, memory, 4096);
  EXPECT_EQ(unreadable(0, 4096), "");
}

TEST_F(VirtualFaults, WhatIsComputedFromItIsNotReadableEither) {
  fail_on(stream, {range(0, 100)});
  EXPECT_NE(gpus.error_of(stream), "");
  bool ran = false;
  gpus.run(
      stream, [&](const Queue&) { ran = true; }, {range(200, 300)}, {range(50, 60)}, "exp", kLine);
  EXPECT_EQ(gpus.error_of(stream), "");
  EXPECT_FALSE(ran);
  EXPECT_TRUE(contains(unreadable(200, 300), "[embedding]"));
  gpus.run(
      stream, [&](const Queue&) { ran = true; }, {range(200, 300)}, {range(100, 120)}, "exp", kLine);
  EXPECT_EQ(gpus.error_of(stream), "");
  EXPECT_TRUE(ran);
  EXPECT_EQ(unreadable(200, 300), "");
}

TEST_F(VirtualFaults, ACopyOfItToTheHostIsAnError) {
  fail_on(stream, {range(0, 100)});
  EXPECT_NE(gpus.error_of(stream), "");
  char host[100] = {};
  gpus.driver.copy(host, -1, memory, 0, sizeof host, stream, "cpu", kLine);
  const std::string text = gpus.error_of(stream);
  EXPECT_TRUE(contains(text, "[cpu] reads values that were never computed")) << text;
  EXPECT_TRUE(contains(text, "[embedding]")) << text;
  std::memset(host, 1, sizeof host);
  gpus.driver.copy(memory, 0, host, -1, sizeof host, stream, "to", kLine);
  gpus.driver.copy(host, -1, memory, 0, sizeof host, stream, "cpu", kLine);
  EXPECT_EQ(gpus.error_of(stream), "");
}

TEST_F(VirtualFaults, ACopyToAnotherGpuIsMarkedThere) {
  char* there = static_cast<char*>(gpus.driver.allocate(1, 100));
  fail_on(stream);
  gpus.driver.copy(there, 1, memory, 0, 100, stream, "to", kLine);
  EXPECT_NE(gpus.error_of(stream), "");
  EXPECT_ERROR(gpus.driver.check_readable(1, there, 100), Error, "[to]");
  gpus.driver.free(1, there, 100);
  EXPECT_NO_THROW(gpus.driver.check_readable(1, there, 100));
}

TEST_F(VirtualFaults, ManyStreamsAndThreadsWithErrorsAllComeToAnEnd) {
  std::atomic<int> told{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        const auto mine = gpus.stream(t % 2);
        for (int i = 0; i < 100; ++i) {
          if (i % 10 == 3) fail_on(mine, {range(static_cast<size_t>(i), 100)});
          gpus.run(mine, kNothing, {range(0, 200)}, {range(50, 150)});
          gpus.record_and_wait(mine, other);
          if (i % 7 == 0) told += gpus.error_of(mine).empty() ? 0 : 1;
        }
        told += gpus.error_of(mine).empty() ? 0 : 1;
      });
    }
  }
  told += gpus.error_of(other).empty() ? 0 : 1;
  EXPECT_GT(told, 0);
  EXPECT_EQ(gpus.error_of(stream), "");
  for (int device = 0; device < 2; ++device) {
    while (true) {
      try {
        gpus.driver.synchronize_device(device, kLine);
        break;
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace tandem::testing
