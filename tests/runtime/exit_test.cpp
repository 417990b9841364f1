// The end of the program, whatever is still queued or running, and what happens before cards are first used. Each in a process of its own.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "runtime/device.h"
#include "runtime/driver.h"
#include "runtime/launch.h"
#include "runtime/stream_record.h"
#include "virtual_cards.h"

namespace tandem::testing {
namespace {

using runtime::Launch;

void busy(const Queue&) { std::this_thread::sleep_for(std::chrono::microseconds(200)); }

// Sets the variable, with the delay seed that it had.
void ask_for(std::string specification) {
  if (const auto seed = options(specification).delay_seed) specification += str(",delay_seed=", *seed);
  setenv("TANDEM_VIRTUAL_GPUS", specification.c_str(), 1);
}

void queue_much() {
  ask_for("2x8MiB");
  for (int device = 0; device < 2; ++device) {
    const cuda::Stream side{gpu(device), -1};
    for (int i = 0; i < 20000; ++i) {
      virtual_gpu::enqueue(Launch(gpu(device), "busy", Site::here()), busy);
      if (i % 100 == 0) side.wait_stream(cuda::default_stream(gpu(device)));
      virtual_gpu::enqueue(runtime::require_driver().queue(side.record()->handle, "busy", Site::here()), busy);
    }
  }
}

// Uses cards while static objects are destroyed.
struct UserAtTheEnd {
  void* memory = nullptr;
  bool armed = false;
  ~UserAtTheEnd() {
    if (!armed) return;
    runtime::Driver& driver = runtime::require_driver();
    virtual_gpu::enqueue(Launch(gpu(0), "late", Site::here()), busy);
    cuda::synchronize(gpu(0));
    driver.free(0, memory, 4096);
    if (!driver.allocate(0, 4096)) std::abort();
  }
};
UserAtTheEnd at_the_end;

struct Exit : ::testing::Test {
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using ExitDeathTest = Exit;

TEST_F(ExitDeathTest, WithWorkQueued) {
  EXPECT_EXIT(
      {
        queue_much();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ExitDeathTest, FromAnotherThread) {
  EXPECT_EXIT(
      {
        queue_much();
        std::thread([] { std::exit(0); }).join();
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ExitDeathTest, FromAStreamsOwnThread) {
  EXPECT_EXIT(
      {
        queue_much();
        const cuda::Stream side(gpu(1));  // a new one, with nothing before it
        runtime::require_driver().host_function(
            side.record()->handle, [](void*) { std::exit(0); }, nullptr);
        std::this_thread::sleep_for(std::chrono::hours(1));
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ExitDeathTest, WhileDetachedThreadsGoOnQueuing) {
  EXPECT_EXIT(
      {
        queue_much();
        for (int t = 0; t < 2; ++t) {
          std::thread([] {
            for (;;) {
              for (int i = 0; i < 100; ++i) virtual_gpu::enqueue(Launch(gpu(i % 2), "add", Site::here()), [](const Queue&) {});
              cuda::synchronize(gpu(0));
            }
          }).detach();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ExitDeathTest, WithStaticObjectsThatStillUseCards) {
  EXPECT_EXIT(
      {
        queue_much();
        at_the_end.memory = runtime::require_driver().allocate(0, 4096);
        at_the_end.armed = true;
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ExitDeathTest, WithAnErrorNobodyWasToldOf) {
  EXPECT_EXIT(
      {
        queue_much();
        virtual_gpu::enqueue(Launch(gpu(0), "bad", Site::here()),
                             [](const Queue& queue) { queue.status->report(Trouble::DivisionByZero); });
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

// Prints what asking for a card throws.
void show_error() {
  try {
    std::fprintf(stderr, "%d cards\n", num_gpus());
    (void)runtime::require_driver();
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  std::exit(0);
}

TEST_F(ExitDeathTest, AWrongVariableIsAnErrorThatShowsTheGrammar) {
  EXPECT_EXIT(
      {
        setenv("TANDEM_VIRTUAL_GPUS", "2y", 1);
        show_error();
      },
      ::testing::ExitedWithCode(0), "error: TANDEM_VIRTUAL_GPUS='2y'.*COUNT");
}

TEST_F(ExitDeathTest, WithoutCardsTheErrorSaysWhyAndWhatToDo) {
  EXPECT_EXIT(
      {
        unsetenv("TANDEM_VIRTUAL_GPUS");
        setenv("TANDEM_CUDA_PLUGIN", "/nowhere/libtandem_cuda.so", 1);
        show_error();
      },
      ::testing::ExitedWithCode(0), "0 cards.*\n.*error: no cuda device can be used: .*/nowhere/libtandem_cuda.so.*TANDEM_VIRTUAL_GPUS=2");
}

TEST_F(ExitDeathTest, VisibleDevicesChooseAmongVirtualCards) {
  EXPECT_EXIT(
      {
        setenv("TANDEM_VIRTUAL_GPUS", "3x4MiB", 1);
        setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
        if (cuda::get_device_properties(0).uuid != virtual_gpu::uuid_of(2)) std::abort();
        show_error();
      },
      ::testing::ExitedWithCode(0), "2 cards");
  EXPECT_EXIT(
      {
        setenv("TANDEM_VIRTUAL_GPUS", "3x4MiB", 1);
        setenv("CUDA_VISIBLE_DEVICES", "", 1);
        show_error();
      },
      ::testing::ExitedWithCode(0), "0 cards");
}

TEST_F(ExitDeathTest, CardsAskedForFromTheProgramComeBeforeTheVariable) {
  EXPECT_EXIT(
      {
        setenv("TANDEM_VIRTUAL_GPUS", "2x4MiB", 1);
        cuda::use_virtual_gpus("5x4MiB");
        show_error();
      },
      ::testing::ExitedWithCode(0), "5 cards");
}

TEST_F(ExitDeathTest, AFaultOnACardsMemoryIsExplained) {
  const auto died = [](int status) { return !::testing::ExitedWithCode(0)(status); };  // by SIGSEGV, or by the report of a sanitizer
  EXPECT_EXIT(
      {
        ask_for("2x8MiB");
        setenv("TANDEM_EXPLAIN_FAULTS", "1", 1);
        runtime::Driver& driver = runtime::require_driver();
        *static_cast<volatile char*>(driver.user_address(1, driver.allocate(1, 4096))) = 1;
        std::exit(0);
      },
      died, "the host touched address 0x[0-9a-f]+, which is memory of cuda:1 \\(virtual\\).*\\.cpu\\(\\)");
}

}  // namespace
}  // namespace tandem::testing
