// Profiles of CUDA GPUs have the times that CUPTI tells, over a CUDA runtime without a GPU and a library in CUPTI's place.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "cuda/fake_cuda.h"
#include "cupti/stand_in.h"
#include "observe/profiler/device_times.h"
#include "observe/profiler/task_timer.h"
#include "runtime/expect_error.h"
#include "runtime/libraries.h"
#include "tandem.h"

namespace tandem {
namespace {

using runtime::WorkTimes;
using testing::CuptiStandIn;

/// A function of the stand-in, or of the plug-in over the fake runtime.
template <class Function>
Function function_of(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle ? reinterpret_cast<Function>(dlsym(handle, name)) : nullptr;
}

CuptiStandIn& cupti() {
  static CuptiStandIn* const one = [] {
    const auto found = function_of<decltype(&cupti_stand_in)>(TD_CUPTI_FILE, "cupti_stand_in");
    const auto fake = function_of<testing::FakeCuda* (*)()>(std::getenv("TANDEM_CUDA_PLUGIN"), "tandem_fake_cuda_state");
    if (!found || !fake) throw Error("the stand-in of CUPTI was not found: run by ctest");
    fake()->copied = [] {
      const auto now = static_cast<uint64_t>(profiler::host_now());
      cupti().ran(CUPTI_ACTIVITY_KIND_MEMCPY, now + 1000, now + 4000);
    };
    return found();
  }();
  return *one;
}

class Cupti : public ::testing::Test {
 protected:
  Cupti() {
    (void)cuda::device_count();  // loads the plug-in
    cupti().misuses.clear();
    cupti().flush_at_once = false;
  }
  ~Cupti() override {
    EXPECT_EQ(cupti().misuses, std::vector<std::string>());
    EXPECT_TRUE(cupti().enabled.empty()) << "what is not asked for any more costs nothing";
    EXPECT_EQ(cupti().ids, 0U);
  }
  static profiler::TaskTimer& timer() { return *profiler::task_timer(); }
};

std::vector<profiler::Event> copies(const profiler::Profile& profile) {
  std::vector<profiler::Event> all;
  for (const profiler::Event& event : profile.events())
    if (event.category == "copy") all.push_back(event);
  return all;
}

TEST_F(Cupti, TellsWhenACopyRan) {
  const Tensor x = ones({1000}).pin_memory();
  for (const bool at_once : {false, true}) {
    cupti().flush_at_once = at_once;
    profiler::Profile profile;
    EXPECT_EQ(cupti().enabled.size(), 0U) << "nothing has been asked of a GPU";
    for (int i = 0; i < 3; ++i) (void)x.to(gpu(i % 2), {.non_blocking = true});
    EXPECT_EQ(cupti().enabled.size(), 7U);
    profile.stop();
    EXPECT_TRUE(cupti().enabled.empty());
    int timed = 0;
    for (const profiler::Event& event : copies(profile))
      if (event.device.is_cuda()) {
        EXPECT_EQ(event.duration.count(), 3000);
        ++timed;
      }
    EXPECT_EQ(timed, 3);
  }
}

TEST_F(Cupti, AddsToWhatStandsOutside) {
  ASSERT_TRUE(timer().start());
  WorkTimes outer, inner;
  inner.outer = &outer;
  ASSERT_TRUE(timer().begin(outer));
  cupti().ran(CUPTI_ACTIVITY_KIND_MEMSET, 50, 60);
  ASSERT_TRUE(timer().begin(inner));
  cupti().ran(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 70, 80);
  cupti().ran(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 65, 75);  // on another stream
  timer().end(inner);
  cupti().ran(CUPTI_ACTIVITY_KIND_MEMCPY2, 90, 95);
  timer().end(outer);
  cupti().ran(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 100, 200);  // nobody's
  EXPECT_EQ(inner.pending, 1U);
  timer().deliver();
  timer().stop();
  EXPECT_EQ(inner.pending, 0U);
  EXPECT_EQ(outer.pending, 0U);
  EXPECT_EQ(inner.began, 65);
  EXPECT_EQ(inner.ended, 80);
  EXPECT_EQ(outer.began, 50);
  EXPECT_EQ(outer.ended, 95);
}

TEST_F(Cupti, BringsWhatHasEndedAndKeepsTheRest) {
  ASSERT_TRUE(timer().start());
  WorkTimes open, done;
  ASSERT_TRUE(timer().begin(open));
  std::thread([&] {
    ASSERT_TRUE(timer().begin(done));
    cupti().ran(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10, 20);
    timer().end(done);
  }).join();
  timer().deliver();
  EXPECT_EQ(done.pending, 0U);
  EXPECT_EQ(open.pending, 1U);
  cupti().ran(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 30, 40);
  timer().end(open);
  timer().deliver();
  timer().stop();
  EXPECT_EQ(open.pending, 0U);
  EXPECT_EQ(open.began, 30);
  EXPECT_EQ(done.ended, 20);
}

TEST_F(Cupti, ServesSeveralAtOnce) {
  const Tensor x = ones({10}).pin_memory();
  profiler::Profile first;
  (void)x.to(gpu(0), {.non_blocking = true});
  {
    profiler::Profile second;
    (void)x.to(gpu(0), {.non_blocking = true});
    second.stop();
    EXPECT_EQ(copies(second).size(), 2U);  // on the host, and on the GPU
    EXPECT_EQ(cupti().enabled.size(), 7U) << "the first still asks";
  }
  first.stop();
  int timed = 0;
  for (const profiler::Event& event : copies(first)) timed += event.device.is_cuda() && event.duration.count() == 3000;
  EXPECT_EQ(timed, 2);
}

TEST_F(Cupti, ThatRefusesIsDoneWithout) {
  cupti().on_enable = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  EXPECT_FALSE(timer().start());
  {
    profiler::Profile profile;
    (void)ones({10}).to(gpu(0));
    profile.stop();
    EXPECT_GE(copies(profile).size(), 1U);
  }
  cupti().on_enable = CUPTI_SUCCESS;
  bool listed = false;
  for (const cuda::Library& library : cuda::libraries()) {
    if (library.name != "CUPTI") continue;
    listed = true;
    EXPECT_EQ(library.version, "13.0.1");
    EXPECT_EQ(library.failure, "CUPTI's cuptiActivityEnable failed: CUPTI_ERROR_AS_THE_TEST_WISHED");
  }
  EXPECT_TRUE(listed);
}

}  // namespace
}  // namespace tandem
