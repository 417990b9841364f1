// The end of the program, whatever is still queued or running, and what happens before GPUs are first used. Each in a process of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <vector>

#include "runtime/device.h"
#include "runtime/driver.h"
#include "runtime/launch.h"
#include "runtime/stream_record.h"
#include "virtual_gpus.h"

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

// Uses GPUs while static objects are destroyed.
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
        const cuda::Stream waiting(gpu(1));  // for what never comes to an end
        waiting.wait_stream(side);
        virtual_gpu::enqueue(runtime::require_driver().queue(waiting.record()->handle, "busy", Site::here()), busy);
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

// What a thread was promised when the program ended beneath it: `wait` is called with its copy to the host queued, and says whether it came
// back without an error. The program ends with 0 where the thread either has its values or an error.
template <class Wait>
[[noreturn]] void end_beneath_a_copy(bool pinned, const Wait& wait) {
  ask_for("2x8MiB");
  constexpr size_t kBytes = 4096;
  static std::vector<char> host(kBytes, 'g');
  static std::thread reader;
  static std::promise<void> queued;
  std::atexit([] { reader.join(); });  // after the library has stopped: its sign is the end of main's thread
  const auto* const stream = static_cast<virtual_gpu::Stream*>(cuda::default_stream(gpu(0)).record()->handle);
  reader = std::thread([=] {
    auto* const memory = static_cast<char*>(runtime::require_driver().allocate(0, kBytes));
    virtual_gpu::enqueue(Launch(gpu(0), "slow", Site::here()), [stream](const Queue&) {
      while (!stream->machine().stopping) std::this_thread::yield();
    });
    virtual_gpu::enqueue(Launch(gpu(0), "fill", Site::here()), [=](const Queue&) { std::fill_n(memory, kBytes, 'v'); });
    std::thread([stream] {  // copies that block are queued and waited for in one call
      while (stream->queued() < 3) std::this_thread::yield();
      queued.set_value();
    })
        .detach();
    try {
      runtime::copy_bytes(host.data(), cpu(), pinned, memory, gpu(0), false, kBytes, pinned, "cpu", Site::here());
      wait();
      std::fprintf(stderr, host == std::vector<char>(kBytes, 'v') ? "copied\n" : "silence\n");
    } catch (const Error& error) {
      std::fprintf(stderr, "told: %s\n", error.what());
    }
  });
  queued.get_future().wait();
  std::exit(0);
}

TEST_F(ExitDeathTest, BeneathABlockingCopyToTheHost) {
  EXPECT_EXIT(end_beneath_a_copy(false, [] {}), ::testing::ExitedWithCode(0), "copied|told: .*the program is ending");
}

TEST_F(ExitDeathTest, BeneathAThreadThatSynchronizesForItsCopy) {
  EXPECT_EXIT(end_beneath_a_copy(true, [] { cuda::default_stream(gpu(0)).synchronize(); }), ::testing::ExitedWithCode(0),
              "copied|told: .*the program is ending");
  EXPECT_EXIT(end_beneath_a_copy(true,
                                 [] {
                                   cuda::Event event;
                                   event.record();
                                   event.synchronize();
                                 }),
              ::testing::ExitedWithCode(0), "copied|told: .*the program is ending");
  EXPECT_EXIT(end_beneath_a_copy(true,
                                 [] {
                                   while (!cuda::default_stream(gpu(0)).query()) std::this_thread::yield();
                                 }),
              ::testing::ExitedWithCode(0), "copied|told: .*the program is ending");
  EXPECT_EXIT(end_beneath_a_copy(true,
                                 [] {
                                   const cuda::Stream side{gpu(0)};
                                   side.wait_stream(cuda::default_stream(gpu(0)));
                                   side.synchronize();
                                 }),
              ::testing::ExitedWithCode(0), "copied|told: .*the program is ending");
}

TEST_F(ExitDeathTest, WithCopiesThatNothingDroppedHindersAreMade) {
  // Nothing but copies is queued, and more of them are asked for afterwards.
  EXPECT_EXIT(
      {
        ask_for("1x8MiB,link=1MB/s");
        static char* const memory = static_cast<char*>(runtime::require_driver().allocate(0, 4096));
        static std::vector<char> early(4096);
        static std::vector<char> late(4096);
        std::fill_n(memory, 4096, 'v');
        std::atexit([] {
          runtime::copy_bytes(late.data(), cpu(), false, memory, gpu(0), false, 4096, false, "cpu", Site::here());
          if (early[4095] != 'v' || late[4095] != 'v') std::abort();
        });
        for (int i = 0; i < 10; ++i) runtime::copy_bytes(early.data(), cpu(), true, memory, gpu(0), false, 4096, true, "cpu", Site::here());
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ExitDeathTest, WithStaticObjectsThatStillUseGpus) {
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

// Prints what asking for a GPU throws.
void show_error() {
  try {
    std::fprintf(stderr, "%d GPUs\n", num_gpus());
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

TEST_F(ExitDeathTest, WithoutGpusTheErrorSaysWhyAndWhatToDo) {
  EXPECT_EXIT(
      {
        unsetenv("TANDEM_VIRTUAL_GPUS");
        setenv("TANDEM_CUDA_PLUGIN", "/nowhere/libtandem_cuda.so", 1);
        show_error();
      },
      ::testing::ExitedWithCode(0), "0 GPUs.*\n.*error: no cuda device can be used: .*/nowhere/libtandem_cuda.so.*TANDEM_VIRTUAL_GPUS=2");
}

TEST_F(ExitDeathTest, VisibleDevicesChooseAmongVirtualGpus) {
  EXPECT_EXIT(
      {
        setenv("TANDEM_VIRTUAL_GPUS", "3x4MiB", 1);
        setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
        if (cuda::get_device_properties(0).uuid != virtual_gpu::uuid_of(2)) std::abort();
        show_error();
      },
      ::testing::ExitedWithCode(0), "2 GPUs");
  EXPECT_EXIT(
      {
        setenv("TANDEM_VIRTUAL_GPUS", "3x4MiB", 1);
        setenv("CUDA_VISIBLE_DEVICES", "", 1);
        show_error();
      },
      ::testing::ExitedWithCode(0), "0 GPUs");
}

TEST_F(ExitDeathTest, GpusAskedForFromTheProgramComeBeforeTheVariable) {
  EXPECT_EXIT(
      {
        setenv("TANDEM_VIRTUAL_GPUS", "2x4MiB", 1);
        cuda::use_virtual_gpus("5x4MiB");
        show_error();
      },
      ::testing::ExitedWithCode(0), "5 GPUs");
}

/// Touches the memory of cuda:1.
void touch_gpu_memory() {
  runtime::Driver& driver = runtime::require_driver();
  *static_cast<volatile char*>(driver.user_address(1, driver.allocate(1, 4096))) = 1;
  std::exit(0);
}

constexpr const char* kExplained = "the host touched address 0x[0-9a-f]+, which is memory of cuda:1 \\(virtual\\).*\\.cpu\\(\\)";

TEST_F(ExitDeathTest, AFaultOnAGpusMemoryIsExplained) {
  const auto died = [](int status) { return !::testing::ExitedWithCode(0)(status); };  // by SIGSEGV, or by the report of a sanitizer
  EXPECT_EXIT(
      {
        ask_for("2x8MiB");
        struct sigaction now = {};
        sigaction(SIGSEGV, nullptr, &now);
        if (now.sa_handler != SIG_DFL) setenv("TANDEM_EXPLAIN_FAULTS", "1", 1);  // a sanitizer's is left alone unless asked for
        touch_gpu_memory();
      },
      died, kExplained);
}

void say_mine(int) {
  (void)!write(STDERR_FILENO, "mine\n", 5);
  _exit(3);
}

TEST_F(ExitDeathTest, AHandlerOfTheProgramsIsLeftAlone) {
  EXPECT_EXIT(
      {
        ask_for("2x8MiB");
        std::signal(SIGSEGV, say_mine);
        touch_gpu_memory();
      },
      ::testing::ExitedWithCode(3), "^mine");
  EXPECT_EXIT(
      {
        ask_for("2x8MiB");
        setenv("TANDEM_EXPLAIN_FAULTS", "1", 1);
        std::signal(SIGSEGV, say_mine);
        touch_gpu_memory();
      },
      ::testing::ExitedWithCode(3), "the host touched(.|\n)*mine");
}

TEST_F(ExitDeathTest, AFaultIsNotExplainedWhereThatIsOff) {
  EXPECT_EXIT(
      {
        ask_for("2x8MiB");
        setenv("TANDEM_EXPLAIN_FAULTS", "0", 1);
        struct sigaction before = {};
        struct sigaction after = {};
        sigaction(SIGSEGV, nullptr, &before);
        (void)runtime::require_driver();
        sigaction(SIGSEGV, nullptr, &after);
        std::exit(before.sa_handler == after.sa_handler ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tandem::testing
