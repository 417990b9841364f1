// Virtual GPUs' memory and events in other processes of the machine: a GPU's memory is a file without a name, which they open through
// /proc; an event is a page of such a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/driver.h"

namespace tandem::runtime::virtual_gpu {

/// How others find [offset, offset + bytes) of an open file of this process. `uuid` is its GPU's.
ShareHandle share_file(int file, uint64_t offset, uint64_t bytes, std::string_view uuid);

/// A piece of another process's file, mapped for kernels (read and write) and for users (no access), as the GPU's own memory is.
class OpenedMemory {
 public:
  /// Error where the handle is of another GPU, or its owner has ended.
  OpenedMemory(const ShareHandle& handle, std::string_view uuid);
  ~OpenedMemory();
  OpenedMemory(const OpenedMemory&) = delete;
  OpenedMemory& operator=(const OpenedMemory&) = delete;

  [[nodiscard]] char* kernels() const { return kernels_; }
  [[nodiscard]] char* user() const { return user_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }

 private:
  char* kernels_ = nullptr;
  char* user_ = nullptr;
  size_t bytes_ = 0;
};

/// The records of an event, counted; in memory that processes share.
class SharedClock {
 public:
  /// A new one of this process.
  explicit SharedClock(std::string_view uuid);
  /// Another process's.
  SharedClock(const ShareHandle& handle, std::string_view uuid);
  ~SharedClock();
  SharedClock(const SharedClock&) = delete;
  SharedClock& operator=(const SharedClock&) = delete;

  [[nodiscard]] ShareHandle share() const;
  /// The number of a new record, of this process.
  uint64_t record();
  /// The record made last.
  [[nodiscard]] uint64_t recorded() const;
  /// A stream has come to record `number`.
  void pass(uint64_t number);
  [[nodiscard]] bool passed(uint64_t number) const;
  /// Waits for it; error where the process that made it has ended before. Ends early where `stopping` becomes true.
  void wait(uint64_t number, const std::atomic<bool>* stopping) const;

 private:
  struct Page;
  int file_ = -1;
  std::string uuid_;
  std::unique_ptr<OpenedMemory> opened_;  // another process's
  Page* page_ = nullptr;
};

}  // namespace tandem::runtime::virtual_gpu
