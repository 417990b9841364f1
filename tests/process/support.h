// What must not be left over, and waiting for it.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "tandem.h"

namespace tandem::testing {

namespace mp = multiprocessing;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Nothing in these tests takes as long; a hang becomes a failure.
inline constexpr seconds kLong(60);

/// How many descriptors this process has open.
inline int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

/// How many children this process has, ended ones included that nobody has waited for.
inline int children() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (int pid; list >> pid;) ++count;
  }
  return count;
}

/// How many pieces of shared memory this process has mapped.
inline int mapped_memories() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:tandem-shared") != std::string::npos;
  return count;
}

/// What is in /dev/shm, where nothing of ours belongs.
inline int named_memories() {
  int count = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", none))
    count += entry.path().filename().string().find("tandem") == 0;
  return count;
}

/// Whether it comes true in time.
inline bool eventually(const std::function<bool()>& is_true) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Whether a process of that number runs; one that has ended and waits to be asked about does not.
inline bool runs(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(status, line)) return false;
  const size_t after = line.rfind(')');
  return after != std::string::npos && line.compare(after, 4, ") Z ") != 0;
}

/// Waits until what earlier tests sent has come back, so that what is counted is one's own.
inline void expect_no_gpu_memory() {
  for (const Device device : {gpu(0), gpu(1)})
    EXPECT_TRUE(eventually([&] { return cuda::memory_allocated(device) == 0; })) << cuda::memory_allocated(device) << " bytes are left";
}

/// While it lives, this process can open `room` more files and no others.
class FewFiles {
 public:
  explicit FewFiles(int room) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit tight = before_;
    tight.rlim_cur = static_cast<rlim_t>(open_descriptors() + 100);
    setrlimit(RLIMIT_NOFILE, &tight);
    for (int file; (file = dup(0)) >= 0;) filling_.emplace_back(file);
    filling_.resize(filling_.size() - static_cast<size_t>(room));
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
  std::vector<Descriptor> filling_;
};

template <class E, class F>
void expect_error(F&& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one with: " << part;
  } catch (const E& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << "the text is: " << e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "an error of another type: " << e.what();
  }
}

}  // namespace tandem::testing
