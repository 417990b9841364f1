// What a profile writes down while the program runs: a list of plain records for each thread. For the library.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/small_mutex.h"
#include "observe/profiler/device_times.h"
#include "runtime/observer.h"

namespace tandem::profiler {

/// What is written down besides names, lines and times.
struct RecordOptions {
  bool shapes = false, memory = false, flops = false;
};

struct Record {
  enum Kind : uint8_t { Kernel, Copy, Wait, Collective, Replay, Range, Backward, Recorded, Memory };

  Kind kind = Kernel;
  bool open = true;
  const char* name = "";
  Site site = Site::none();
  const void* key = nullptr;   // finds the record of what ends
  int64_t begin = 0, end = 0;  // nanoseconds of the host's steady clock
  Device device{};             // where it runs; of Memory, whose it is
  int stream = -1;             // its id, where the work was queued on a GPU
  Stamps stamps{};             // until they are read
  Span span{};                 // on the GPU
  int64_t bytes = 0;           // of Copy; of Memory: taken, or given back (negative)
  int64_t memory = 0;          // bytes allocated for it on its device
  int64_t flops = 0;
  const void* node = nullptr;  // of Backward and Recorded
  uint64_t sequence = 0;
  uint32_t first_shape = 0, shapes = 0;  // of the thread's
};

/// Records in pieces of memory that stay where they are, and are kept for others when it is cleared.
class RecordList {
 public:
  void push_back(const Record& record) {
    if (size_ == pieces_.size() * kPiece) pieces_.push_back(std::make_unique<Record[]>(kPiece));
    (*this)[size_] = record;
    ++size_;
  }
  void clear() { size_ = 0; }
  [[nodiscard]] size_t size() const { return size_; }
  Record& operator[](size_t i) { return pieces_[i / kPiece][i % kPiece]; }
  const Record& operator[](size_t i) const { return pieces_[i / kPiece][i % kPiece]; }

 private:
  static constexpr size_t kPiece = 512;
  std::vector<std::unique_ptr<Record[]>> pieces_;
  size_t size_ = 0;
};

/// The records of one thread, by the time they began.
struct ThreadRecords {
  tandem::detail::SmallMutex mutex;
  int64_t thread = 0;  // the system's number
  std::string name;
  RecordList records;
  std::deque<std::string> names;  // of ranges
  std::vector<Shape> shapes;
  std::vector<size_t> open;  // what has begun and not ended, innermost last
  size_t unread = 0;         // records before this one have their times on GPUs
  struct Taken {
    const void* address;
    int64_t bytes;
  };
  std::vector<Taken> taken;  // the latest allocations, for the kernel that is to write there
};

/// Writes down all that the program does, from `start` on. What more than kMostRecords would be is counted.
class Recorder final : public runtime::Observer {
 public:
  static constexpr size_t kMostRecords = size_t{1} << 23;

  explicit Recorder(RecordOptions options);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void start();
  /// Forgets what was written down so far, what is going on too.
  void clear();
  /// Ends. `wait`: for the GPUs to come to the end of what was recorded, unless they make no progress for seconds.
  void stop(bool wait);

  [[nodiscard]] int64_t began() const { return began_; }
  [[nodiscard]] int64_t ended() const { return ended_; }
  [[nodiscard]] size_t dropped() const { return dropped_.load(); }
  /// After `stop`.
  [[nodiscard]] const std::deque<ThreadRecords>& threads() const { return threads_; }

  void begin(const runtime::facts::Kernel& kernel) noexcept override;
  void end(const runtime::facts::Kernel& kernel) noexcept override;
  void begin(const runtime::facts::Copy& copy) noexcept override;
  void end(const runtime::facts::Copy& copy) noexcept override;
  void begin(const runtime::facts::Wait& wait) noexcept override;
  void end(const runtime::facts::Wait& wait) noexcept override;
  void begin(const runtime::facts::Collective& collective) noexcept override;
  void end(const runtime::facts::Collective& collective) noexcept override;
  void begin(const runtime::facts::Replay& replay) noexcept override;
  void end(const runtime::facts::Replay& replay) noexcept override;
  void begin(const runtime::facts::Scope& scope) noexcept override;
  void end(const runtime::facts::Scope& scope) noexcept override;
  void mark(const runtime::facts::Recorded& recorded) noexcept override;
  void mark(const runtime::facts::MemoryMark& mark) noexcept override;
  void missed() noexcept override { dropped_.fetch_add(1, std::memory_order_relaxed); }

 private:
  ThreadRecords& here();
  bool add(Record record, const runtime::StreamRecord* stream, const runtime::Accesses* accesses) noexcept;
  void finish(Record::Kind kind, const void* key, const runtime::StreamRecord* stream) noexcept;
  void describe(ThreadRecords& thread, Record& record, const runtime::Accesses& accesses) const;
  void read_times(ThreadRecords& thread, size_t most);

  const RecordOptions options_;
  const uint64_t id_;
  bool started_ = false;
  int64_t began_ = 0, ended_ = 0;
  std::atomic<size_t> count_{0}, dropped_{0};
  DeviceTimes times_;
  std::mutex mutex_;  // guards what follows, not what is in it
  std::deque<ThreadRecords> threads_;
  std::map<int64_t, ThreadRecords*> by_thread_;
};

}  // namespace tandem::profiler
