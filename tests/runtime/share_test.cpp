// Memory and events in another process: this program, started again with a filter that leaves one test.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "expect_error.h"
#include "process_gpus.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"
#include "tandem.h"
#include "virtual_gpus.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace tandem::testing {
namespace {

using runtime::ShareHandle;

constexpr size_t kBytes = size_t{1} << 20;
constexpr int64_t kNumbers = 1000;
constexpr const char* kVariable = "TANDEM_TEST_SHARED";

struct Shared : ProcessGpus {};

std::string text_of(const ShareHandle& handle) {
  std::string text;
  for (const unsigned char byte : handle.bytes) {
    text += "0123456789abcdef"[byte / 16];
    text += "0123456789abcdef"[byte % 16];
  }
  return text;
}
ShareHandle handle_of(const std::string& text) {
  ShareHandle handle;
  for (size_t i = 0; i < handle.bytes.size(); ++i)
    handle.bytes[i] = static_cast<unsigned char>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return handle;
}

/// Another process of this program that runs only `test`, with `handles` in its environment, and writes to a pipe.
struct Child {
  Child(const char* test, const std::string& handles) {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    reading = pipe_ends[0];
    setenv(kVariable, (std::to_string(pipe_ends[1]) + ' ' + handles).c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no other thread reads
    const std::string filter = str("--gtest_filter=", test);
    std::string program = "/proc/self/exe", also = "--gtest_also_run_disabled_tests";
    char* arguments[] = {program.data(), const_cast<char*>(filter.c_str()), also.data(), nullptr};
    EXPECT_EQ(posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments, environ), 0);
    unsetenv(kVariable);  // NOLINT(concurrency-mt-unsafe)
    close(pipe_ends[1]);
  }
  ~Child() { close(reading); }
  std::string read_some() const {
    char buffer[4096];
    const ssize_t got = read(reading, buffer, sizeof buffer);
    return {buffer, static_cast<size_t>(std::max<ssize_t>(got, 0))};
  }
  int wait() const {
    int status = -1;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  pid_t process = 0;
  int reading = -1;
};

/// In the child: the words of the environment, and where to write.
struct Told {
  Told() {
    const char* text = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe)
    if (!text) return;
    char* rest = nullptr;
    writing = static_cast<int>(std::strtol(text, &rest, 10));
    handles = rest + 1;
  }
  void say(const std::string& text) const { ASSERT_EQ(write(writing, text.data(), text.size()), static_cast<ssize_t>(text.size())); }
  int writing = -1;
  std::string handles;
};

Tensor numbers_at(void* address) {
  runtime::Driver& driver = runtime::require_driver();
  return from_blob(driver.user_address(0, address), {kNumbers}, {.dtype = kFloat32, .device = gpu(0)});
}

TEST_F(Shared, DISABLED_Doubles) {
  const Told told;
  if (told.writing < 0) GTEST_SKIP() << "another test starts it";
  runtime::Driver& driver = runtime::require_driver();
  const size_t half = 2 * sizeof(ShareHandle);
  void* const address = driver.open_memory(0, handle_of(told.handles.substr(0, half)));
  const cuda::Event ready = cuda::Event::from_ipc_handle(gpu(0), handle_of(told.handles.substr(half, half)));
  EXPECT_FALSE(ready.query());
  cuda::current_stream().wait_event(ready);
  const Tensor x = numbers_at(address);
  x.mul_(2);
  const Tensor copy = x.clone();
  told.say("queued");
  EXPECT_TRUE(equal(copy.cpu(), full({kNumbers}, 6.0))) << "it waited for the other process";
  driver.close_memory(0, address);
}

TEST_F(Shared, MemoryAndEventsReachAnotherProcess) {
  runtime::Driver& driver = runtime::require_driver();
  void* const address = driver.allocate(0, kBytes);
  ASSERT_TRUE(address);
  const Tensor x = numbers_at(address);
  cuda::Event ready({.interprocess = true});
  std::atomic<bool> go{false};
  virtual_gpu::enqueue(driver.queue(runtime::current_stream(0)->handle, "hold", Site::none()), [&go](const Queue&) { go.wait(false); });
  x.fill_(3);
  ready.record();
  EXPECT_FALSE(ready.query());
  const Child child("Shared.DISABLED_Doubles", text_of(driver.share_memory(0, address, kBytes)) + text_of(ready.ipc_handle()));
  EXPECT_EQ(child.read_some().substr(0, 6), "queued");
  go = true;
  go.notify_all();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(equal(x.cpu(), full({kNumbers}, 6.0)));
  ready.synchronize();
  EXPECT_TRUE(ready.query());
  driver.free(0, address, kBytes);
}

TEST_F(Shared, DISABLED_EndsEarly) {
  const Told told;
  if (told.writing < 0) GTEST_SKIP() << "another test starts it";
  runtime::Driver& driver = runtime::require_driver();
  cuda::Event never({.interprocess = true});
  const std::string event = text_of(never.ipc_handle());
  void* const address = driver.allocate(0, kBytes);
  told.say(text_of(driver.share_memory(0, address, kBytes)) + event);
}

TEST_F(Shared, WhatIsGoneIsAnError) {
  runtime::Driver& driver = runtime::require_driver();
  std::string handles;
  {
    const Child child("Shared.DISABLED_EndsEarly", "");
    while (handles.size() < 4 * sizeof(ShareHandle)) {
      const std::string more = child.read_some();
      ASSERT_FALSE(more.empty());
      handles += more;
    }
    EXPECT_EQ(child.wait(), 0);
  }
  const size_t half = 2 * sizeof(ShareHandle);
  EXPECT_ERROR((void)driver.open_memory(0, handle_of(handles.substr(0, half))), Error, "has ended");
  EXPECT_ERROR((void)cuda::Event::from_ipc_handle(gpu(0), handle_of(handles.substr(half, half))), Error, "has ended");
  EXPECT_ERROR((void)driver.open_memory(0, ShareHandle{}), Error, "no handle");
  void* const address = driver.allocate(0, kBytes);
  EXPECT_ERROR((void)driver.open_memory(1, driver.share_memory(0, address, kBytes)), Error, "handle is of GPU");
  driver.free(0, address, kBytes);
  EXPECT_ERROR((void)cuda::Event().ipc_handle(), Error, "interprocess = true");
  EXPECT_ERROR(cuda::Event({.enable_timing = true, .interprocess = true}), Error, "no timing");
}

}  // namespace
}  // namespace tandem::testing
