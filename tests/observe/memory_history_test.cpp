// The memory's history, the files that show it, and scopes that find leaks.
#include "observe/memory/memory_history.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "observe/memory/memory_scope.h"
#include "tandem.h"

namespace td = tandem;
namespace cuda = td::cuda;
namespace memory = td::cuda::memory;

namespace {

constexpr size_t MiB = size_t{1} << 20;

std::string text_of(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

td::Tensor bytes(int64_t count, td::Device device = td::gpu(0), td::Site site = td::Site::here()) {
  return td::empty({count}, {.dtype = td::kUInt8, .device = device}, site);
}

struct MemoryHistory : ::testing::Test {
  void SetUp() override {
    for (const td::Device device : td::try_all_gpus()) cuda::synchronize(device);
    cuda::empty_cache();
  }
  void TearDown() override { memory::record_history(false); }

  static std::vector<std::string> actions(td::Device device = td::gpu(0)) {
    std::vector<std::string> out;
    for (const auto& entry : memory::history(device)) out.push_back(entry.action);
    return out;
  }
};
using Actions = std::vector<std::string>;

TEST_F(MemoryHistory, HasEachEventWithItsLine) {
  (void)bytes(100);
  memory::record_history();
  EXPECT_TRUE(memory::history(td::gpu(0)).empty()) << "begins from nothing";
  uintptr_t address = 0;
  int line = 0;
  {
    const auto x = bytes(12 * MiB);
    line = __LINE__ - 1;
    address = reinterpret_cast<uintptr_t>(x.data_ptr());
  }
  cuda::empty_cache();
  EXPECT_THROW((void)bytes(int64_t{1} << 40), td::OutOfMemoryError);
  const auto history = memory::history(td::gpu(0));
  Actions found;
  for (const auto& entry : history) {
    if (entry.address == address) found.push_back(entry.action);
    if (entry.action == "alloc" || entry.action.starts_with("free_")) {
      EXPECT_EQ(entry.line, line);
      EXPECT_TRUE(entry.file.ends_with("memory_history_test.cpp"));
      EXPECT_EQ(entry.size, 12 * MiB);
    }
  }
  EXPECT_EQ(found, (Actions{"segment_alloc", "alloc", "free_requested", "free_completed", "segment_free"}));
  EXPECT_EQ(history.back().action, "oom");
  EXPECT_GT(history.back().device_free, 100 * MiB);
  for (size_t i = 1; i < history.size(); ++i) EXPECT_LE(history[i - 1].time, history[i].time);
  EXPECT_TRUE(actions(td::gpu(1)).empty());
  EXPECT_THROW((void)memory::history("cpu"), td::Error);
  EXPECT_THROW(memory::record_history({.max_entries = 0}), td::Error);
}

TEST_F(MemoryHistory, KeepsTheLatestAndForgetsAtTheEnd) {
  const auto reserve = bytes(1);
  memory::record_history({.max_entries = 4});
  for (int i = 0; i < 10; ++i) (void)bytes(512);
  (void)bytes(1024);
  const auto history = memory::history(td::gpu(0));
  ASSERT_EQ(history.size(), 4U);
  EXPECT_EQ(history[1].action, "alloc");
  EXPECT_EQ(history[3].size, 1024U);
  memory::record_history(false);
  (void)bytes(512);
  EXPECT_TRUE(memory::history(td::gpu(0)).empty());
}

TEST_F(MemoryHistory, FreesOfMemoryThatAnotherStreamUsesAreCompletedLater) {
  const cuda::Stream side(td::gpu(0));
  std::atomic<bool> go = false;
  memory::record_history();
  {
    const auto x = bytes(512);
    x.record_stream(side);
  }
  EXPECT_EQ(actions()[actions().size() - 1].substr(0, 5), "free_");
  side.synchronize();
  (void)bytes(512);  // looks at what has passed
  const auto all = actions();
  EXPECT_EQ(std::count(all.begin(), all.end(), "free_completed"), 2);
}

TEST_F(MemoryHistory, IsRecordedWhileOthersWorkAndItIsSwitched) {
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      while (!over) (void)bytes(512, td::gpu(i));
    });
  for (int i = 0; i < 100; ++i) {
    memory::record_history({.max_entries = 50});
    while (memory::history(td::gpu(i % 2)).size() < 50) std::this_thread::yield();
    memory::dump_snapshot("switched.pickle");
    memory::write_page("switched.html");
    memory::record_history(i % 2 == 0);
  }
  over = true;
  for (auto& thread : threads) thread.join();
}

/// It has no GPUs, but what it inherits neither hangs nor harms.
TEST_F(MemoryHistory, HasNothingToSayInAForkedChild) {
  memory::record_history();
  const memory::Scope scope;
  const auto kept = bytes(512);
  const auto refused = [](auto&& call) {
    try {
      call();
      return false;
    } catch (const td::Error& e) {
      return std::string_view(e.what()).find("forked") != std::string_view::npos;
    }
  };
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool good = refused([] { (void)memory::history(td::gpu(0)); }) && refused([] { memory::dump_snapshot("forked.pickle"); }) &&
                      refused([] { memory::write_page("forked.html"); }) && scope.held().size() == 1;
    memory::record_history(false);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(MemoryHistory, PageNamesLinesAndNeedsNothingElse) {
  memory::record_history();
  const auto kept = bytes(3 * MiB);
  const int line = __LINE__ - 1;
  const auto small = bytes(700, td::gpu(0), td::Site::here("<b>&\"evil\".cpp", 7));
  memory::write_page("page.html");
  const std::string page = text_of("page.html");
  EXPECT_NE(page.find("memory_history_test.cpp:" + std::to_string(line)), std::string::npos);
  EXPECT_NE(page.find("aria-label=\"Over "), std::string::npos);
  EXPECT_EQ(page.find("<b>&"), std::string::npos) << "names are escaped";
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("}) EXPECT_EQ(page.find(outside), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme:dark"), std::string::npos);
  EXPECT_NE(page.find("1 hole"), std::string::npos);
}

/// Layers that are called by forward() know no line; what backward makes for them is held for backward's.
TEST_F(MemoryHistory, EveryBlockOfATrainingLoopHasALine) {
  td::nn::Sequential net(td::nn::Linear(64, 128), td::nn::ReLU(), td::nn::Linear(128, 10));
  net.to(td::gpu(0));
  const auto x = td::randn({32, 64}, td::gpu(0)), y = td::zeros({32, 10}, td::gpu(0));
  memory::record_history();
  int line = 0;
  for (int i = 0; i < 2; ++i) {
    net.zero_grad();
    auto loss = td::mse_loss(net.forward(x), y);
    loss.backward();
    line = __LINE__ - 1;
  }
  size_t of_backward = 0;
  for (const auto& entry : memory::history(td::gpu(0))) {
    if (entry.action != "alloc") continue;
    EXPECT_TRUE(entry.file.ends_with("memory_history_test.cpp")) << entry.size << " bytes of '" << entry.file << "':" << entry.line;
    of_backward += entry.line == line;
  }
  EXPECT_GE(of_backward, 8U) << "the gradients of four parameters, twice";
  memory::write_page("net.html");
  EXPECT_EQ(text_of("net.html").find("no line known"), std::string::npos);
}

/// By line, the one that held most first; what was let go before and taken after is not among them.
TEST_F(MemoryHistory, PageSaysWhoHeldMemoryAtThePeak) {
  const auto before = bytes(MiB, td::gpu(0), td::Site::here("before.cpp", 1));
  memory::record_history();
  {
    auto gone = bytes(20 * MiB, td::gpu(0), td::Site::here("gone.cpp", 2));
    gone = td::Tensor();
    const auto small = bytes(2 * MiB, td::gpu(0), td::Site::here("small.cpp", 3));
    const auto large = bytes(24 * MiB, td::gpu(0), td::Site::here("large.cpp", 4));
  }
  const auto after = bytes(3 * MiB, td::gpu(0), td::Site::here("after.cpp", 5));
  memory::write_page("peak.html");
  const std::string page = text_of("peak.html");
  const size_t begin = page.find("Who held memory at the peak"), end = page.find("Largest holders now");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string table = page.substr(begin, end - begin);
  EXPECT_NE(table.find("27.00 MiB were held"), std::string::npos);
  const size_t large = table.find("large.cpp:4"), small = table.find("small.cpp:3"), first = table.find("before.cpp:1");
  EXPECT_LT(large, small);
  EXPECT_LT(small, first);
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(table.find("gone.cpp"), std::string::npos);
  EXPECT_EQ(table.find("after.cpp"), std::string::npos);
  EXPECT_NE(table.find("<td>24.00 MiB</td><td>88.9 %</td><td>1</td>"), std::string::npos);
}

/// The latest events are rows; a list for the page's script has all, whatever their files are called.
TEST_F(MemoryHistory, PageFindsEventsAmongAll) {
  memory::record_history();
  (void)bytes(30 * MiB, td::gpu(0), td::Site::here("</script><b>.cpp", 7));
  for (int i = 0; i < 400; ++i) (void)bytes(1000, td::gpu(0), td::Site::here("often.cpp", 8));
  memory::write_page("events.html");
  const std::string page = text_of("events.html");
  const size_t begin = page.find("<h3>Events</h3>"), list = page.find("<script type=\"application/json\">"),
               end = page.find("</script>", list);
  ASSERT_LT(begin, list);
  ASSERT_NE(end, std::string::npos);
  const std::string rows = page.substr(begin, list - begin), all = page.substr(list, end - list);
  EXPECT_EQ(rows.find(".cpp:7"), std::string::npos);
  EXPECT_NE(rows.find("often.cpp:8"), std::string::npos);
  EXPECT_NE(rows.find(", the latest 300 are shown"), std::string::npos);
  EXPECT_NE(all.find("script>\\u003cb>.cpp:7"), std::string::npos);
  EXPECT_EQ(all.find('<', 1), std::string::npos);
}

/// What the key calls hatched is drawn so: blocks that are free.
TEST_F(MemoryHistory, PageHatchesWhatIsFree) {
  const auto kept = bytes(3 * MiB);
  memory::write_page("free.html");
  const std::string page = text_of("free.html");
  EXPECT_NE(page.find(".free{background:repeating-linear-gradient("), std::string::npos);
  EXPECT_NE(page.find("<span class=\"swatch free\"></span>free"), std::string::npos);
  EXPECT_NE(page.find("<span class=\"free"), std::string::npos);
}

/// What memory_viz.py reads; it knows these figures.
TEST_F(MemoryHistory, SnapshotForPython) {
  memory::record_history();
  const auto kept = bytes(3 * MiB);
  (void)bytes(700);
  std::ofstream("snapshot.line") << __LINE__ - 2;
  EXPECT_THROW((void)bytes(int64_t{1} << 40), td::OutOfMemoryError);
  memory::dump_snapshot("snapshot.pickle");
  EXPECT_EQ(actions().back(), "snapshot");
}

TEST_F(MemoryHistory, FilesAreWrittenWholeOrNotAtAll) {
  memory::record_history();
  for (int i = 0; i < 100; ++i) (void)bytes(512);
  using File = std::pair<const char*, void (*)(const std::string&)>;
  for (const auto& [path, write] : {File{"full.pickle", memory::dump_snapshot}, File{"full.html", memory::write_page}}) {
    { std::ofstream(path) << "what was there"; }
    EXPECT_THROW(write(std::string(path) + "/file"), td::Error);
    write(std::string("runs/") + path + "s/new");  // its folder is made
    EXPECT_FALSE(text_of((std::string("runs/") + path + "s/new").c_str()).empty());
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{1000, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_THROW(write(path), td::Error);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(text_of(path), "what was there");
    EXPECT_NO_THROW(write(path));
    EXPECT_GT(std::filesystem::file_size(path), 1000U);
  }
}

TEST_F(MemoryHistory, ScopeNamesTheLinesThatStillHold) {
  const auto before = bytes(512);
  std::vector<td::Tensor> leaked;
  int line = 0;
  const memory::Scope scope;
  {
    auto gone = bytes(2 * MiB);
    const memory::Scope inner;
    for (int i = 0; i < 3; ++i) leaked.push_back(bytes(1024));
    line = __LINE__ - 1;
    gone = td::Tensor();
    EXPECT_EQ(inner.held().size(), 1U) << "what an outer scope took is not the inner one's";
  }
  const auto held = scope.held();
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].bytes, 3 * 1024U);
  EXPECT_EQ(held[0].count, 3U);
  EXPECT_EQ(held[0].line, line);
  EXPECT_EQ(held[0].device, td::gpu(0));
  EXPECT_EQ(scope.report(), "memory_history_test.cpp:" + std::to_string(line) + " holds 3.00 KiB in 3 blocks of cuda:0\n");
  leaked.clear();
  EXPECT_EQ(scope.report(), "");
}

TEST_F(MemoryHistory, ScopeSeesOtherThreadsPinnedMemoryAndWhatAThrowLeaves) {
  const memory::Scope scope;
  td::Tensor other;
  std::thread([&] { other = bytes(512, td::gpu(1)); }).join();
  auto pinned = td::empty({100}, {.pin_memory = true});
  EXPECT_THROW((void)(td::ones({2}, td::gpu(0)) + td::ones({3}, td::gpu(0))), td::Error);
  EXPECT_EQ(scope.held().size(), 2U);
  EXPECT_NE(scope.report().find("of page-locked memory\n"), std::string::npos);
  EXPECT_NE(scope.report().find("1 block of cuda:1\n"), std::string::npos);
  other = pinned = td::Tensor();
  EXPECT_EQ(scope.report(), "");
}

}  // namespace
