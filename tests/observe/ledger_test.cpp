// What the ledger's entries say, who gets them, and what a guard refuses.
#include "observe/ledger/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "runtime/driver.h"
#include "runtime/expect_error.h"
#include "runtime/observer.h"
#include "runtime/stream_record.h"
#include "runtime/virtual/stream.h"
#include "tandem.h"

namespace td = tandem;
namespace cuda = td::cuda;
namespace ledger = td::ledger;
using ledger::Kind;

namespace {

bool is_here(const ledger::Entry& entry, int line) { return entry.file.ends_with("ledger_test.cpp") && entry.line == line; }

bool finds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Ledger, SaysWhatWasCopiedAndWaitedFor) {
  const auto x = td::randn({1000}, td::gpu(0));
  cuda::synchronize();
  ledger::Recorder recorder;
  const double norm = x.norm().item<double>();
  const int item_line = __LINE__ - 1;
  const auto moved = x.to(td::gpu(1));
  const auto host = x.cpu();
  std::ostringstream text;
  text << x.slice(0, 0, 3);
  const int print_line = __LINE__ - 1;
  const auto pageable = td::ones({1000}).to(td::gpu(0), {.non_blocking = true});
  const auto stays = x * 2 + 1;
  cuda::synchronize();
  const auto entries = recorder.entries();
  EXPECT_GT(norm, 0);
  ASSERT_EQ(entries.size(), 6U) << recorder.report();

  EXPECT_EQ(entries[0].kind, Kind::Item);
  EXPECT_EQ(entries[0].op, "item");
  EXPECT_TRUE(is_here(entries[0], item_line) && entries[0].blocking);
  EXPECT_EQ(entries[0].from, td::gpu(0));
  EXPECT_EQ(entries[0].to, td::cpu());
  EXPECT_EQ(entries[0].bytes, 4U);
  EXPECT_GT(entries[0].waited.count(), 0);
  EXPECT_EQ(entries[0].stream, 0);
  EXPECT_EQ(entries[0].thread, std::this_thread::get_id());

  EXPECT_EQ(entries[1].kind, Kind::Copy);
  EXPECT_TRUE(is_here(entries[1], item_line + 2) && !entries[1].blocking);
  EXPECT_EQ(entries[1].to, td::gpu(1));
  EXPECT_EQ(entries[1].bytes, 4000U);
  EXPECT_EQ(entries[1].waited.count(), 0) << "nobody waited";

  EXPECT_EQ(entries[2].kind, Kind::Download);
  EXPECT_EQ(entries[2].op, "cpu");
  EXPECT_FALSE(entries[2].pinned);

  EXPECT_EQ(entries[3].kind, Kind::Printing);
  EXPECT_TRUE(is_here(entries[3], print_line));
  EXPECT_EQ(entries[3].bytes, 12U);

  EXPECT_EQ(entries[4].kind, Kind::Pageable);
  EXPECT_TRUE(entries[4].blocking && entries[4].asked_non_blocking && !entries[4].pinned);

  EXPECT_EQ(entries[5].kind, Kind::Synchronize);
  EXPECT_EQ(entries[5].op, "synchronize");
  EXPECT_EQ(entries[5].from, td::gpu(0));

  recorder.clear();
  EXPECT_TRUE(recorder.entries().empty());
  EXPECT_EQ(recorder.report(), "nothing was copied or waited for\n");
}

TEST(Ledger, TellsPinnedCopiesThatNobodyWaitsFor) {
  const auto pinned = td::ones({100}).pin_memory();
  const ledger::Recorder recorder;
  const auto x = pinned.to(td::gpu(0), {.non_blocking = true});
  const auto back = x.to(td::cpu(), {.non_blocking = true});
  const auto waited = pinned.to(td::gpu(0));
  const auto entries = recorder.entries();
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_TRUE(entries[0].pinned && !entries[0].blocking && entries[0].kind == Kind::Copy);
  EXPECT_TRUE(entries[1].pinned && !entries[1].blocking && entries[1].kind == Kind::Copy);
  EXPECT_TRUE(entries[2].pinned && entries[2].blocking && entries[2].kind == Kind::Upload);
  EXPECT_TRUE(finds(ledger::report(entries), "nobody waits"));
  cuda::synchronize();
}

TEST(Ledger, TellsWorkOfTheHostNothing) {
  const ledger::Recorder recorder;
  const auto x = td::randn({10});
  (void)x.sum().item<float>();
  (void)x.index({x > 0}).cpu().to(td::cpu());
  std::ostringstream text;
  text << x;
  EXPECT_TRUE(recorder.entries().empty());
}

TEST(Ledger, KnowsStreamsAndEvents) {
  const cuda::Stream side(td::gpu(1));
  cuda::Event event;
  event.record(side);
  const ledger::Recorder recorder;
  side.synchronize();
  event.synchronize();
  const auto entries = recorder.entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].stream, side.id());
  EXPECT_EQ(entries[0].from, td::gpu(1));
  EXPECT_EQ(entries[1].stream, -1);
  for (const auto& entry : entries) EXPECT_EQ(entry.kind, Kind::Synchronize);
}

TEST(Ledger, SortsItsReportByTimeLost) {
  const std::vector<ledger::Entry> entries = {{.kind = Kind::Item,
                                               .op = "item",
                                               .from = td::gpu(0),
                                               .bytes = 4,
                                               .waited = std::chrono::milliseconds(1),
                                               .file = "a.cpp",
                                               .line = 40},
                                              {.kind = Kind::Printing,
                                               .op = "print",
                                               .from = td::gpu(0),
                                               .bytes = 2048,
                                               .waited = std::chrono::seconds(2),
                                               .file = "a.cpp",
                                               .line = 50},
                                              {.kind = Kind::Item,
                                               .op = "item",
                                               .from = td::gpu(0),
                                               .bytes = 4,
                                               .waited = std::chrono::milliseconds(2),
                                               .file = "a.cpp",
                                               .line = 40},
                                              {.kind = Kind::Download,
                                               .op = "cpu",
                                               .from = td::gpu(0),
                                               .bytes = 8,
                                               .file = "a.cpp",
                                               .line = 12,
                                               .reason = "the Trainer's reading of losses",
                                               .own = true}};
  EXPECT_EQ(
      ledger::report(entries),
      "time lost  count     bytes  line      what\n"
      "   2.00 s      1  2.00 KiB  a.cpp:50  printing by print, cuda:0 to cpu\n"
      "                            -> print after the loop, or every hundredth step: docs/ledger.md#printing\n"
      "  3.00 ms      2   8 bytes  a.cpp:40  item, cuda:0 to cpu\n"
      "                            -> keep the loss on the device and read it once an epoch: docs/ledger.md#item\n"
      "   0.0 us      1   8 bytes  a.cpp:12  download by cpu, cuda:0 to cpu (the Trainer's reading of losses, ordered by that line)\n");
}

TEST(Ledger, AnIfIsFoundAtTheLineOfTheWorkBeforeIt) {
  const auto x = td::ones({10}, td::gpu(0));
  const ledger::Recorder recorder;
  const bool all = (x > 0).all() ? true : false;
  const int line = __LINE__ - 1;
  EXPECT_TRUE(all);
  const auto entries = recorder.entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].kind, Kind::Condition);
  EXPECT_TRUE(is_here(entries[0], line) && entries[0].behind_line);
}

TEST(LedgerGuard, RefusesWaitsAndNamesTheLine) {
  const auto x = td::ones({1000}, td::gpu(0));
  {
    const ledger::Guard guard(ledger::Mode::forbid);
    const auto fine = x * 2;
    const auto pinned = td::ones({10}).pin_memory().to(td::gpu(0), {.non_blocking = true});
    EXPECT_EQ(x.to(td::gpu(1)).device(), td::gpu(1));
    EXPECT_ERROR(x.sum().item<float>(), ledger::ForbiddenError, td::str("ledger_test.cpp:", __LINE__));
    EXPECT_ERROR(x.cpu(), ledger::ForbiddenError, "4000 bytes from cuda:0 to cpu");
    EXPECT_ERROR(x.cpu(), ledger::ForbiddenError, "gather results on the device");
    EXPECT_ERROR(cuda::synchronize(td::gpu(0)), ledger::ForbiddenError, "[synchronize] the host would wait for cuda:0");
    EXPECT_ERROR(static_cast<bool>((x > 0).all()), ledger::ForbiddenError, "or behind it");
    EXPECT_ERROR(x.nonzero(), ledger::ForbiddenError, "[nonzero]");
    {
      const ledger::Guard allowed(ledger::Mode::allow, "the loss of an epoch");
      EXPECT_EQ(x.sum().item<float>(), 1000.f);
      const ledger::Guard again(ledger::Mode::forbid);
      EXPECT_THROW((void)x.sum().item<float>(), ledger::ForbiddenError) << "the innermost counts";
    }
    EXPECT_THROW((void)x.sum().item<float>(), ledger::ForbiddenError);
  }
  EXPECT_EQ(x.sum().item<float>(), 1000.f);
}

TEST(LedgerBeforeWaits, TellsOfAWaitThatHasNotBegunAndMayRefuseIt) {
  const auto x = td::ones({10}, td::gpu(0));
  std::vector<ledger::Entry> ahead;
  ledger::call_before_waits([&](const ledger::Entry& entry) {
    ahead.push_back(entry);
    if (entry.kind == Kind::Download) throw std::runtime_error("not now");
  });
  const ledger::Recorder recorder;
  EXPECT_EQ(x.sum().item<float>(), 10.F);
  const int line = __LINE__ - 1;
  EXPECT_THROW((void)x.cpu(), std::runtime_error);
  (void)x.to(td::gpu(1));  // does not wait
  ledger::call_before_waits(nullptr);
  EXPECT_EQ(x.cpu().numel(), 10);
  ASSERT_EQ(ahead.size(), 2U);
  EXPECT_EQ(ahead[0].kind, Kind::Item);
  EXPECT_TRUE(is_here(ahead[0], line));
  EXPECT_EQ(ahead[0].waited.count(), 0);
  EXPECT_EQ(ahead[1].kind, Kind::Download);
  const auto entries = recorder.entries();
  EXPECT_EQ(std::count_if(entries.begin(), entries.end(), [](const auto& e) { return e.kind == Kind::Download; }), 1);
}

TEST(LedgerGuard, EndsWithAnException) {
  const auto x = td::ones({10}, td::gpu(0));
  try {
    const ledger::Guard guard(ledger::Mode::forbid);
    (void)x.cpu();
    ADD_FAILURE() << "not refused";
  } catch (const ledger::ForbiddenError&) {  // NOLINT(bugprone-empty-catch)
  }
  EXPECT_EQ(x.cpu().numel(), 10);
}

TEST(LedgerGuard, ARefusedWaitIsNoEntryAndAReasonIsKept) {
  const auto x = td::ones({10}, td::gpu(0));
  const ledger::Recorder recorder;
  const ledger::Guard guard(ledger::Mode::forbid);
  EXPECT_THROW((void)x.cpu(), ledger::ForbiddenError);
  {
    const ledger::Guard allowed(ledger::Mode::allow, std::string("the loss of ") + "an epoch");
    (void)x.cpu();
  }
  const auto entries = recorder.entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].reason, "the loss of an epoch");
  EXPECT_FALSE(entries[0].own);
  EXPECT_TRUE(finds(recorder.report(), "(allowed: the loss of an epoch)"));
}

TEST(LedgerGuard, LogsForTheProgram) {
  const auto x = td::ones({10}, td::gpu(0));
  {
    const ledger::Guard guard(ledger::Mode::log);
    (void)x.cpu();
  }
  const std::string line = td::str("ledger_test.cpp:", __LINE__ - 2);
  EXPECT_TRUE(finds(ledger::log_report(), line)) << ledger::log_report();
  (void)x.cpu();
  EXPECT_FALSE(finds(ledger::log_report(), td::str("ledger_test.cpp:", __LINE__ - 1)));
}

TEST(LedgerGuard, IsTheThreadsOwn) {
  const auto x = td::ones({10}, td::gpu(0));
  const ledger::Guard guard(ledger::Mode::forbid);
  float sum = 0;
  std::thread([&] { sum = x.sum().item<float>(); }).join();  // the user's thread: the user guards it
  EXPECT_EQ(sum, 10.f);
}

TEST(LedgerGuard, RanksThatAreThreadsInheritIt) {
  const auto x = td::ones({10}, td::gpu(0));
  const ledger::Guard guard(ledger::Mode::forbid);
  std::atomic<int> refused = 0;
  td::distributed::run_ranks(2, [&](int) {
    try {
      (void)x.sum().item<float>();
    } catch (const ledger::ForbiddenError&) {
      ++refused;
    }
    const auto sum = td::ones({1});
    td::distributed::all_reduce(sum);  // the other rank needs this one: never refused
  });
  EXPECT_EQ(refused.load(), 2);
}

TEST(LedgerGuard, CollectivesAreEntries) {
  const ledger::Recorder recorder;
  td::distributed::run_ranks(2, [&](int) { td::distributed::all_reduce(td::ones({1})); });
  const auto entries = recorder.entries();
  EXPECT_EQ(
      std::count_if(entries.begin(), entries.end(), [](const auto& entry) { return entry.kind == Kind::Collective && entry.blocking; }), 2)
      << recorder.report();
}

TEST(LedgerHelper, FailsALoopThatWaits) {
  const auto x = td::ones({10}, td::gpu(0));
  EXPECT_EQ(ledger::waits([&] { (void)(x * 2).to(td::gpu(1)); }), "");
  const std::string report = ledger::waits([&] { (void)x.sum().item<float>(); });
  EXPECT_TRUE(finds(report, td::str("ledger_test.cpp:", __LINE__ - 1))) << report;
  EXPECT_TRUE(finds(report, "docs/ledger.md#item"));
}

TEST(Ledger, TwoAtOnceAndOtherThreads) {
  const auto x = td::ones({10}, td::gpu(0));
  const ledger::Recorder outer;
  (void)x.cpu();
  {
    const ledger::Recorder inner;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < 50; ++n) (void)x.cpu();
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(inner.entries().size(), 200U);
  }
  (void)x.cpu();
  EXPECT_EQ(outer.entries().size(), 202U);
}

TEST(Ledger, ComesAndGoesBesideThreads) {
  const auto x = td::ones({10}, td::gpu(0));
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      while (!over) (void)x.cpu();
    });
  size_t seen = 0;
  for (int i = 0; i < 100 || seen == 0; ++i) {
    const ledger::Recorder recorder;
    std::this_thread::yield();
    for (const auto& entry : recorder.entries()) {
      EXPECT_LT(entry.waited, std::chrono::minutes(1));
      ++seen;
    }
  }
  over = true;
  for (auto& thread : threads) thread.join();
}

TEST(Ledger, AnErrorOfAStreamEndsAWaitThatIsStillAnEntry) {
  const auto x = td::ones({10}, td::gpu(0));
  const auto bad = x.index_select(0, td::tensor({100}, {.device = td::gpu(0)}));
  const ledger::Recorder recorder;
  EXPECT_THROW((void)bad.cpu(), td::Error);
  (void)x.cpu();
  EXPECT_EQ(recorder.entries().size(), 2U);
}

TEST(Ledger, AGraphsReplayWaitsForNothing) {
  const auto x = td::ones({10}, td::gpu(0));
  cuda::Graph graph;
  {
    const cuda::StreamGuard guard{cuda::Stream(td::gpu(0))};
    graph.capture_begin();
    x.mul_(2);
    graph.capture_end();
  }
  EXPECT_EQ(ledger::waits([&] {
              for (int i = 0; i < 3; ++i) graph.replay();
            }),
            "");
  cuda::synchronize();
}

/// Lets a stream go on when the host has begun to wait for room in its queue.
class LetsGoOn final : public td::runtime::Observer {
 public:
  explicit LetsGoOn(std::atomic<bool>& go_on) : go_on_(go_on) { td::runtime::add_observer(*this); }
  ~LetsGoOn() override { td::runtime::remove_observer(*this); }
  void begin(const td::runtime::facts::Wait& wait) noexcept override {
    if (wait.kind != td::runtime::facts::Wait::Queue) return;
    go_on_ = true;
    go_on_.notify_all();
  }

 private:
  std::atomic<bool>& go_on_;
};

TEST(Ledger, AFullQueueIsToldAndNeverRefused) {
  if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "real GPUs have queues of their own";
  const auto x = td::ones({1}, td::gpu(0));
  cuda::synchronize();
  std::atomic<bool> go_on = false;
  const LetsGoOn lets_go_on(go_on);
  const auto* stream = td::runtime::current_stream(0);
  td::runtime::virtual_gpu::enqueue(td::runtime::require_driver().queue(stream->handle, "held", td::Site::here()),
                                    [&](const td::Queue&) { go_on.wait(false); });
  const ledger::Recorder recorder;
  int line = 0;
  {
    const ledger::Guard guard(ledger::Mode::forbid);
    for (int i = 0; i < 70'000 && !go_on; ++i) {
      line = __LINE__ + 1;
      x.mul_(1);
    }
  }
  const auto entries = recorder.entries();
  go_on = true;
  go_on.notify_all();
  ASSERT_EQ(entries.size(), 1U) << recorder.report();
  EXPECT_EQ(entries[0].kind, Kind::FullQueue);
  EXPECT_EQ(entries[0].op, "mul");
  EXPECT_EQ(entries[0].from, td::gpu(0));
  EXPECT_TRUE(is_here(entries[0], line));
  cuda::synchronize();
}

TEST(Ledger, AFullMemoryIsTold) {
  cuda::synchronize();
  if (!td::runtime::devices_are_virtual()) GTEST_SKIP() << "of 256 MiB";
  cuda::empty_cache();
  const cuda::Stream side(td::gpu(0));
  const ledger::Recorder recorder;
  // Of 256 MiB, what one stream has freed is what another one needs.
  const auto take = [&](const cuda::Stream& stream) {
    const cuda::StreamGuard guard(stream);
    (void)td::ones({40 << 20}, td::gpu(0));
  };
  take(side);
  take(cuda::default_stream(td::gpu(0)));
  const auto entries = recorder.entries();
  EXPECT_TRUE(std::any_of(entries.begin(), entries.end(), [](const auto& entry) { return entry.kind == Kind::Memory && entry.blocking; }));
  {
    const ledger::Guard guard(ledger::Mode::forbid);
    EXPECT_ERROR((take(side), 0), ledger::ForbiddenError, "smaller batches");
  }
  take(side);
  EXPECT_EQ(td::ones({40 << 20}, td::gpu(0)).sum().item<float>(), 40 << 20) << "the memory is whole";
  cuda::empty_cache();
}

}  // namespace
