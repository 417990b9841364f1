// Profiles: the schedule, what is recorded on every device, links, sums, and what a program does at odd moments.
#include "observe/profiler/profiler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <optional>
#include <thread>

#include "runtime/stream_record.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace cuda = td::cuda;
namespace profiler = td::profiler;
using profiler::Action;
using profiler::Event;
using profiler::Profile;
using profiler::RecordFunction;

namespace {

std::vector<const Event*> named(const std::vector<Event>& events, std::string_view name, std::string_view category = "") {
  std::vector<const Event*> found;
  for (const Event& event : events)
    if (event.name == name && (category.empty() || event.category == category)) found.push_back(&event);
  return found;
}

/// What holds for every profile.
void check(const std::vector<Event>& events) {
  std::map<std::pair<int, int>, profiler::nanoseconds> free;
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    ASSERT_EQ(event.id, static_cast<int64_t>(i));
    EXPECT_GE(event.start.count(), 0);
    EXPECT_GE(event.duration.count(), 0);
    EXPECT_GE(event.start, events[i == 0 ? 0 : i - 1].start);
    if (event.parent >= 0) {
      const Event& outer = events[static_cast<size_t>(event.parent)];
      EXPECT_TRUE(outer.on_host() && outer.thread == event.thread);
      EXPECT_LE(outer.start, event.start) << event.name << " in " << outer.name;
      EXPECT_GE(outer.end(), event.end()) << event.name << " in " << outer.name;
    }
    if (!event.on_device()) {
      EXPECT_EQ(event.launch, -1);
      continue;
    }
    ASSERT_GE(event.launch, 0) << event.name;
    const Event& launch = events[static_cast<size_t>(event.launch)];
    EXPECT_TRUE(launch.on_host() && launch.name == event.name);
    EXPECT_GE(event.start, launch.start) << event.name;
    auto& end = free[{event.device.index(), event.stream}];
    EXPECT_GE(event.start, end) << event.name << " overlaps what ran before it on its stream";
    end = event.end();
  }
}

class ProfileOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, ProfileOn, testing::Values("cpu", "cuda:0"),
                         [](const auto& info) { return std::string(info.param) == "cpu" ? "cpu" : "gpu"; });

TEST(ProfileSchedule, IsPyTorchs) {
  // torch.profiler.schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
  const profiler::Schedule schedule{.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 1};
  const std::vector<Action> expected = {Action::None,          Action::None, Action::Warmup, Action::Record,
                                        Action::RecordAndSave, Action::None, Action::Warmup, Action::Record,
                                        Action::RecordAndSave, Action::None, Action::None};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(profiler::action_of(schedule, static_cast<int64_t>(i)), expected[i]) << i;
  EXPECT_EQ(profiler::action_of({.active = 1}, 1000), Action::RecordAndSave) << "for ever";
  EXPECT_EQ(profiler::action_of({.active = 3}, 1), Action::Record);
  EXPECT_NE(error_of([] { (void)profiler::action_of({.wait = 1}, 0); }).find("active must be at least 1"), std::string::npos);
  EXPECT_NE(error_of([] { Profile wrong({.schedule = {.wait = -1, .active = 1}}); }).find("wait -1"), std::string::npos);
  EXPECT_NE(error_of([] { Profile wrong({.schedule = {.wait = 1}}); }).find("active 0"), std::string::npos);
}

TEST_P(ProfileOn, RecordsTheActiveStepsOfEachCycle) {
  const td::Device device(GetParam());
  const auto x = td::ones({8}, device);
  std::vector<int64_t> seen;
  Profile profile({.schedule = {.wait = 1, .warmup = 1, .active = 2, .repeat = 2}, .on_trace_ready = [&](Profile& each) {
                     for (const Event* range : named(each.events(), "step")) seen.push_back(range->line);
                     EXPECT_EQ(named(each.events(), "cumsum", "operation").size(), 2U);
                     EXPECT_EQ(each.key_averages().find("cumsum")->count, 2);
                   }});
  for (int i = 0; i < 12; ++i) {
    {
      const RecordFunction range("step", {"", i});
      const auto y = x.cumsum(0);
    }
    profile.step();
  }
  profile.stop();
  EXPECT_EQ(seen, (std::vector<int64_t>{2, 3, 6, 7}));
  EXPECT_EQ(named(profile.events(), "ProfilerStep#6").size(), 1U) << "the last cycle is kept";
  EXPECT_TRUE(named(profile.events(), "ProfilerStep#2").empty());
  const auto averages = profile.key_averages();
  const auto* step = averages.find("ProfilerStep*");  // all steps are one row, as in PyTorch
  ASSERT_TRUE(step);
  EXPECT_EQ(step->count, 2);
  EXPECT_EQ(step->device_time_total.count() > 0, device.is_cuda());
  check(profile.events());
  EXPECT_NE(error_of([&] { profile.step(); }).find("was stopped"), std::string::npos);
}

TEST_P(ProfileOn, WithoutAScheduleRecordsUntilItStops) {
  const td::Device device(GetParam());
  int ready = 0;
  Profile profile({.on_trace_ready = [&](Profile&) { ++ready; }});
  const auto x = td::ones({8}, device);
  const int line = __LINE__ + 1;
  const auto y = x.cumsum(0);
  EXPECT_NE(error_of([&] { (void)profile.events(); }).find("call stop() first"), std::string::npos);
  profile.step();
  (void)x.cumsum(0);
  profile.stop();
  profile.stop();
  (void)x.cumsum(0);
  EXPECT_EQ(ready, 1);
  const auto host = named(profile.events(), "cumsum", "operation");
  ASSERT_EQ(host.size(), 2U);
  EXPECT_EQ(host[0]->line, line);
  EXPECT_TRUE(host[0]->file.ends_with("profiler_test.cpp"));
  EXPECT_EQ(host[0]->thread, gettid());
  EXPECT_TRUE(named(profile.events(), "ProfilerStep#0").empty());
  const auto kernels = named(profile.events(), "cumsum", "kernel");
  ASSERT_EQ(kernels.size(), device.is_cuda() ? 2U : 0U);
  for (const Event* kernel : kernels) {
    EXPECT_EQ(kernel->device, device);
    EXPECT_GT(kernel->duration.count(), 0);
    EXPECT_EQ(kernel->stream, 0);
  }
  check(profile.events());
}

TEST_P(ProfileOn, LinksBackwardToForward) {
  const td::Device device(GetParam());
  const auto x = td::ones({8}, {.device = device, .requires_grad = true}), w = td::ones({8}, {.device = device, .requires_grad = true});
  Profile profile;
  const auto product = x * w;
  const auto soft = product.softmax(0);
  const auto sum = soft.sum();
  sum.backward();
  profile.stop();
  const auto& events = profile.events();
  for (const auto& [op, node] : {std::pair("mul", "MulBackward0"), {"softmax", "SoftmaxBackward0"}, {"sum", "SumBackward0"}}) {
    const auto backward = named(events, node, "backward");
    ASSERT_EQ(backward.size(), 1U) << node;
    EXPECT_GE(backward[0]->forward_id, 0);
    const Event* forward = nullptr;
    for (const Event* each : named(events, op, "operation"))
      if (each->parent < 0) forward = each;
    ASSERT_TRUE(forward) << op;
    EXPECT_EQ(forward->forward_id, backward[0]->forward_id) << op;
    int inside = 0;
    for (const Event& event : events) {
      if (event.parent != backward[0]->id) continue;
      ++inside;
      EXPECT_EQ(event.forward_id, backward[0]->forward_id);
    }
    EXPECT_TRUE(inside > 0 || std::string_view(op) == "sum") << node;
  }
  EXPECT_EQ(named(events, "AccumulateGrad").size(), 2U);
  check(events);
}

TEST(Profile, LinksBackwardOfWhatWasRecordedBefore) {
  const auto x = td::ones({8}, {.requires_grad = true});
  const auto y = (x * x).sum();
  Profile profile;
  y.backward();
  profile.stop();
  const auto mul = named(profile.events(), "MulBackward0"), sum = named(profile.events(), "SumBackward0");
  ASSERT_TRUE(mul.size() == 1 && sum.size() == 1);
  EXPECT_TRUE(mul[0]->forward_id >= 0 && sum[0]->forward_id >= 0 && mul[0]->forward_id != sum[0]->forward_id);
}

TEST_P(ProfileOn, CountsShapesMemoryAndFlops) {
  const td::Device device(GetParam());
  const auto a = td::ones({4, 8}, device), b = td::ones({8, 16}, device);
  const auto image = td::ones({2, 3, 8, 8}, device), kernel = td::ones({5, 3, 3, 3}, device);
  Profile profile({.record_shapes = true, .profile_memory = true, .with_flops = true});
  const auto c = a.matmul(b);
  const auto d = a + a;
  const auto e = td::conv2d(image, kernel);
  const auto f = td::linear(a, td::ones({6, 8}, device));
  profile.stop();
  const auto averages = profile.key_averages();
  const auto flops = [&](const char* name) { return averages.find(name) ? averages.find(name)->flops : 0; };
  EXPECT_EQ(flops("mm") + flops("matmul") + flops("linear"), 2 * 4 * 8 * 16 + 2 * 4 * 8 * 6);
  EXPECT_EQ(flops("add"), 32);
  EXPECT_EQ(flops("convolution"), 2 * (2 * 5 * 6 * 6) * (3 * 3 * 3));
  const auto adds = named(profile.events(), "add", "operation");
  ASSERT_EQ(adds.size(), 1U);
  EXPECT_EQ(adds[0]->shapes, (std::vector<std::vector<int64_t>>{{32}, {32}})) << "dense operands are one dimension to a kernel";
  if (device.is_cuda()) {
    EXPECT_GE(adds[0]->memory, 32 * 4);
    int64_t taken = 0;
    for (const Event* each : named(profile.events(), "[memory]")) {
      EXPECT_EQ(each->device, device);
      taken += each->bytes;
    }
    EXPECT_GE(taken, (4 * 16 + 32 + 2 * 5 * 36 + 24) * 4);
    EXPECT_NE(averages.table().find("Memory"), std::string::npos);
  }
  EXPECT_NE(averages.table().find("GFLOP/s"), std::string::npos);
  const auto by_shape = profile.key_averages(true);
  EXPECT_NE(by_shape.table().find("[[32], [32]]"), std::string::npos);
  check(profile.events());
}

TEST(Profile, HasStreamsCopiesAndWaits) {
  const auto x = td::ones({100}, td::gpu(0));
  const cuda::Stream side(td::gpu(0));
  cuda::synchronize(td::gpu(0));
  Profile profile;
  {
    const cuda::StreamGuard guard(side);
    (void)x.cumsum(0);
  }
  (void)x.to(td::gpu(1));
  (void)x.cpu();
  side.synchronize();
  profile.stop();
  const auto kernel = named(profile.events(), "cumsum", "kernel");
  ASSERT_EQ(kernel.size(), 1U);
  EXPECT_EQ(kernel[0]->stream, side.record()->id);
  int on_device = 0, on_host = 0;
  for (const Event& event : profile.events())
    if (event.category == "copy") {
      EXPECT_EQ(event.bytes, 400);
      (event.on_host() ? on_host : on_device) += 1;
    }
  EXPECT_EQ(on_host, 2);
  EXPECT_EQ(on_device, 2);
  EXPECT_FALSE(named(profile.events(), "wait for stream").empty() && named(profile.events(), "synchronize", "wait").empty());
  check(profile.events());
}

TEST(Profile, NestsRangesOnAnyThread) {
  Profile profile;
  {
    const RecordFunction outer("outer");
    const RecordFunction inner("inner");
    std::thread([] {
      const RecordFunction other("other");
      (void)td::ones({3}).cumsum(0);
    }).join();
    try {
      const RecordFunction thrown("thrown");
      throw 1;
    } catch (int) {
    }
  }
  profile.stop();
  const auto& events = profile.events();
  const auto outer = named(events, "outer"), inner = named(events, "inner"), other = named(events, "other"),
             thrown = named(events, "thrown"), sums = named(events, "cumsum");
  ASSERT_TRUE(outer.size() == 1 && inner.size() == 1 && other.size() == 1 && thrown.size() == 1 && sums.size() == 1);
  EXPECT_EQ(outer[0]->parent, -1);
  EXPECT_EQ(inner[0]->parent, outer[0]->id);
  EXPECT_EQ(thrown[0]->parent, inner[0]->id);
  EXPECT_EQ(other[0]->parent, -1);
  EXPECT_EQ(sums[0]->parent, other[0]->id);
  EXPECT_NE(other[0]->thread, outer[0]->thread);
  EXPECT_TRUE(outer[0]->file.ends_with("profiler_test.cpp"));
  const auto averages = profile.key_averages();
  EXPECT_LE(averages.find("outer")->self_cpu_time_total, averages.find("outer")->cpu_time_total - averages.find("inner")->cpu_time_total);
  check(events);
}

/// A range that is open at either end of the profile, or ends elsewhere than it began.
TEST(Profile, EndsInTheMiddleOfRanges) {
  auto before = std::make_unique<RecordFunction>("before");
  std::optional<Profile> profile(std::in_place);
  before.reset();
  auto moved = std::make_unique<RecordFunction>("moved");
  std::thread([&] { moved.reset(); }).join();
  auto open = std::make_unique<RecordFunction>("open");
  (void)td::ones({3}).cumsum(0);
  profile->stop();
  open.reset();
  EXPECT_TRUE(named(profile->events(), "before").empty());
  EXPECT_EQ(named(profile->events(), "moved").size(), 1U);
  EXPECT_EQ(named(profile->events(), "open").size(), 1U);
  EXPECT_EQ(named(profile->events(), "cumsum")[0]->parent, named(profile->events(), "open")[0]->id);
  check(profile->events());
  profile.emplace();
  (void)td::ones({3}, td::gpu(0)).cumsum(0);
  profile.reset();  // without stop()
}

TEST(Profile, SeveralRecordAtOnce) {
  const auto x = td::ones({8}, td::gpu(0));
  Profile outer;
  (void)x.cumsum(0);
  Profile inner;
  (void)x.cumsum(0);
  inner.stop();
  (void)x.cumsum(0);
  outer.stop();
  EXPECT_EQ(named(inner.events(), "cumsum", "kernel").size(), 1U);
  EXPECT_EQ(named(outer.events(), "cumsum", "kernel").size(), 3U);
  check(inner.events());
  check(outer.events());
}

TEST(Profile, RecordsManyThreadsOnOneStream) {
  Profile profile({.schedule = {.warmup = 1, .active = 1, .repeat = 1}, .profile_memory = true});
  std::atomic<int> running = 0;
  std::atomic<bool> counted = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const auto x = td::ones({64}, td::gpu(0));
      (void)x.cumsum(0);
      ++running;
      while (!counted) std::this_thread::yield();
      for (int i = 0; i < 700; ++i) (void)x.cumsum(0);
      (void)x.cpu();
    });
  while (running < 4) std::this_thread::yield();
  profile.step();
  counted = true;
  for (auto& thread : threads) thread.join();
  profile.step();
  EXPECT_EQ(named(profile.events(), "cumsum", "operation").size(), 2800U);
  EXPECT_EQ(named(profile.events(), "cumsum", "kernel").size(), 2800U);
  EXPECT_EQ(profile.dropped(), 0U);
  check(profile.events());
}

/// Ranks that are threads, each with a profile of its own, which has all of them.
TEST_P(ProfileOn, HasTheCollectivesOfRanksThatAreThreads) {
  constexpr int kRanks = 2;
  td::distributed::run_ranks(kRanks, [](int rank) {
    const td::Device device = td::Device(GetParam()).is_cuda() ? td::gpu(rank) : td::cpu();
    auto x = td::ones({16}, device);
    td::distributed::barrier();
    Profile profile;
    td::distributed::barrier();
    td::distributed::all_reduce(x);
    if (device.is_cuda()) cuda::synchronize(device);
    profile.stop();
    bool mine = false;
    for (const Event* each : named(profile.events(), "all_reduce", "collective")) mine |= each->on_host() && each->thread == gettid();
    EXPECT_TRUE(mine) << rank;
    EXPECT_EQ(x[0].item<float>(), 2.f);
    check(profile.events());
  });
}

TEST(Profile, TakesAReplayAsOnePieceOfWork) {
  auto x = td::ones({10}, td::gpu(0));
  cuda::Graph graph;
  const cuda::Stream side(td::gpu(0));
  Profile profile;
  {
    const cuda::StreamGuard guard(side);
    graph.capture_begin();
    x.mul_(2);
    x.mul_(2);
    graph.capture_end();
  }
  graph.replay();
  graph.replay();
  cuda::synchronize(td::gpu(0));
  profile.stop();
  EXPECT_EQ(x[0].item<float>(), 16.f);
  EXPECT_TRUE(named(profile.events(), "mul_", "kernel").empty()) << "what is captured does not run";
  int replays = 0;
  for (const Event& event : profile.events()) replays += event.category == "graph" && event.on_device() && event.duration.count() > 0;
  EXPECT_EQ(replays, 2);
  check(profile.events());
}

TEST(Profile, LeavesErrorsOfAsynchronousWorkToTheUser) {
  const auto table = td::ones({4, 2}, td::gpu(0));
  const auto wrong = td::full({1}, 9, {.dtype = td::kInt64}).to(td::gpu(0));
  Profile profile;
  (void)td::embedding(wrong, table);
  profile.stop();
  EXPECT_NE(error_of([] { cuda::synchronize(td::gpu(0)); }).find("out of range"), std::string::npos);
  EXPECT_NO_THROW(cuda::synchronize(td::gpu(0)));
  check(profile.events());
}

TEST(Profile, IsNoMatterInAForkedChild) {
  Profile profile;
  (void)td::ones({3}).cumsum(0);
  const pid_t child = fork();
  if (child == 0) {
    const RecordFunction range("child");
    (void)td::ones({3}).cumsum(0);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  profile.stop();
  EXPECT_EQ(named(profile.events(), "cumsum").size(), 1U);
}

TEST(KeyAverages, SortsAndCutsItsTable) {
  Profile profile;
  const auto x = td::ones({1000}, td::gpu(0));
  {
    const RecordFunction range("a name\nof two lines");
    for (int i = 0; i < 3; ++i) (void)x.cumsum(0);
  }
  (void)(x * 2);
  profile.stop();
  const auto averages = profile.key_averages();
  EXPECT_EQ(averages.sorted_by("count")[0].key, "cumsum");
  EXPECT_EQ(averages.sorted_by("cuda_time_total").size(), averages.size());
  EXPECT_EQ(averages.find("none"), nullptr);
  const auto table = averages.table({.sort_by = "count", .row_limit = 1});
  EXPECT_NE(table.find("cumsum"), std::string::npos);
  EXPECT_EQ(table.find("mul"), std::string::npos);
  EXPECT_NE(averages.table({.row_limit = -1}).find("a name of two lines"), std::string::npos);
  EXPECT_NE(averages.table().find("# of Calls"), std::string::npos);
  EXPECT_NE(averages.table().find("Self device time total"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)averages.table({.sort_by = "colour"}); }).find("the columns are self_cpu_time_total"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)averages.table({.row_limit = -2}); }).find("row_limit is -2"), std::string::npos);
}

}  // namespace
