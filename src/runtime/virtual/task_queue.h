// Queued work in memory: records of different sizes, one after another in chunks that are used again. One thread reads; writers take turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "base/queue.h"
#include "runtime/work_times.h"

namespace tandem::runtime::virtual_gpu {

/// Memory that a task reads or writes. `dense` says that it writes every byte of it.
struct Range {
  const void* address = nullptr;
  size_t bytes = 0;
  bool dense = true;
};

/// How a task is treated where its stream is poisoned.
enum class Kind : uint8_t {
  Kernel,  // skipped; what it should have written is remembered
  ToHost,  // skipped; reading what was never written is an error, since the host cannot be told later
  Always,  // runs all the same: host functions, events, waits
  Meets,   // has partners that wait for it: called where it is skipped too, with a Queue without a status, but at the end of the program
};

/// A queued task: this header, the closure, the ranges it writes and then those it reads.
struct alignas(16) TaskHeader {
  /// Runs the closure where there is a queue, and destroys it where this is the `last` time. nullptr: the next task stands in the next
  /// chunk.
  void (*act)(TaskHeader* task, const Queue* queue, bool last) = nullptr;
  const char* op = "";
  const char* file = "";
  int32_t line = 0;
  uint32_t bytes = 0;  // of all of it
  uint32_t writes = 0, reads = 0;
  Kind kind = Kind::Kernel;
  WorkTimes* times = nullptr;  // who wants to know when it ran

  [[nodiscard]] Range* ranges() { return reinterpret_cast<Range*>(reinterpret_cast<std::byte*>(this) + bytes) - (size_t{writes} + reads); }
  [[nodiscard]] std::span<const Range> written() { return {ranges(), writes}; }
  [[nodiscard]] std::span<const Range> read() { return {ranges() + writes, reads}; }
  [[nodiscard]] Site site() const { return {file, line}; }
};

/// The records of one stream. The stream's mutex is held around reserve and commit; front and pop are for its thread.
class TaskQueue {
 public:
  TaskQueue() = default;
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;
  ~TaskQueue();

  /// Room for a record of `bytes`, a multiple of 16. It counts only once committed.
  [[nodiscard]] TaskHeader* reserve(size_t bytes);
  void commit(TaskHeader* task) { write_ = reinterpret_cast<std::byte*>(task) + task->bytes; }

  /// The oldest committed record; there must be one.
  [[nodiscard]] TaskHeader* front();
  /// Done with the record that front gave.
  void pop(TaskHeader* task) { read_ = reinterpret_cast<std::byte*>(task) + task->bytes; }

 private:
  struct Chunk;
  Chunk* take_chunk(size_t bytes);
  void give_back(Chunk* chunk);

  Chunk* write_chunk_ = nullptr;
  std::byte* write_ = nullptr;
  std::byte* write_end_ = nullptr;
  alignas(64) Chunk* read_chunk_ = nullptr;
  std::byte* read_ = nullptr;
  std::mutex spare_mutex_;
  Chunk* spare_ = nullptr;
  int spares_ = 0;
};

}  // namespace tandem::runtime::virtual_gpu
