#include "observe/profiler/profile_recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <thread>

#include "observe/profiler/flops.h"

namespace tandem::profiler {

namespace facts = runtime::facts;
using runtime::Access;
using runtime::StreamRecord;

namespace {

constexpr size_t kMostTaken = 32;
constexpr size_t kUnreadAtMost = 1024, kReadAtOnce = 128;
constexpr auto kLookAgain = std::chrono::microseconds(50);
constexpr auto kPatience = std::chrono::seconds(10);

uint64_t next_id() {
  static std::atomic<uint64_t> ids{1};
  return ids.fetch_add(1);
}

/// The calling thread's records in the recorder that it met last.
struct Known {
  uint64_t recorder = 0;
  ThreadRecords* records = nullptr;
};
thread_local constinit Known known;

std::string name_of_this_thread() {
  std::array<char, 16> name = {};
  return pthread_getname_np(pthread_self(), name.data(), name.size()) == 0 ? name.data() : "";
}

const char* name_of(const facts::Wait& wait) {
  constexpr std::array<const char*, 6> kNames = {"wait for stream", "wait for device",     "wait for event",
                                                 "wait for memory", "wait for collective", "wait for a place in the queue"};
  return wait.op && *wait.op ? wait.op : kNames[wait.kind];
}

Device device_of(const StreamRecord* stream, Device otherwise = {}) { return stream ? gpu(stream->device) : otherwise; }

}  // namespace

Recorder::Recorder(RecordOptions options) : options_(options), id_(next_id()) {}

Recorder::~Recorder() {
  if (started_) runtime::remove_observer(*this);
  clear();
}

void Recorder::start() {
  began_ = host_now();
  started_ = true;
  runtime::add_observer(*this);
}

void Recorder::clear() {
  const std::lock_guard lock(mutex_);
  for (ThreadRecords& thread : threads_) {
    const std::lock_guard its(thread.mutex);
    for (size_t i = thread.unread; i < thread.records.size(); ++i)
      if (Record& record = thread.records[i]; record.stamps.any()) times_.drop(record.stamps, record.device.index());
    thread.records.clear();
    thread.names.clear();
    thread.shapes.clear();
    thread.open.clear();
    thread.taken.clear();
    thread.unread = 0;
  }
  count_ = dropped_ = 0;
  began_ = host_now();
}

void Recorder::stop(bool wait) {
  if (!std::exchange(started_, false)) return;
  runtime::remove_observer(*this);
  ended_ = host_now();
  runtime::Driver* const driver = runtime::own_driver();
  wait = wait && driver && driver->may_wait();
  times_.finish(wait);
  auto progress = std::chrono::steady_clock::now();
  for (ThreadRecords& thread : threads_) {
    const std::lock_guard its(thread.mutex);
    for (;;) {
      const size_t before = thread.unread;
      read_times(thread, thread.records.size());
      if (thread.unread == thread.records.size()) break;
      const auto now = std::chrono::steady_clock::now();
      if (thread.unread != before) progress = now;
      // What another thread was in the middle of has no end.
      if (wait && thread.records[thread.unread].stamps.closed && now - progress < kPatience) {
        std::this_thread::sleep_for(kLookAgain);
        continue;
      }
      Record& given_up = thread.records[thread.unread++];
      if (given_up.stamps.any()) times_.drop(given_up.stamps, given_up.device.index());
    }
  }
}

/// Reads the times of so many records, until one has not passed.
void Recorder::read_times(ThreadRecords& thread, size_t most) {
  for (; most > 0 && thread.unread < thread.records.size(); --most, ++thread.unread) {
    Record& record = thread.records[thread.unread];
    if (!record.stamps.any()) continue;
    if (!DeviceTimes::passed(record.stamps)) return;
    record.span = times_.take(record.stamps, record.device.index());
  }
}

ThreadRecords& Recorder::here() {
  if (known.recorder == id_) return *known.records;
  const int64_t thread = gettid();
  const std::lock_guard lock(mutex_);
  ThreadRecords*& records = by_thread_[thread];
  if (!records) {
    records = &threads_.emplace_back();
    records->thread = thread;
    records->name = name_of_this_thread();
  }
  known = {id_, records};
  return *records;
}

bool Recorder::add(Record record, const StreamRecord* stream, const runtime::Accesses* accesses) noexcept {
  try {
    if (count_.fetch_add(1, std::memory_order_relaxed) >= kMostRecords) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    record.begin = host_now();
    if (stream) {
      record.stream = stream->id;
      record.stamps = times_.begin(*stream);
    }
    ThreadRecords& thread = here();
    const std::lock_guard lock(thread.mutex);
    if (accesses) describe(thread, record, *accesses);
    if (record.kind == Record::Range) record.name = thread.names.emplace_back(record.name).c_str();
    if (record.open) thread.open.push_back(thread.records.size());
    thread.records.push_back(record);
    if (thread.records.size() - thread.unread > kUnreadAtMost && thread.records.size() % (kReadAtOnce / 2) == 0)
      read_times(thread, kReadAtOnce);
    return true;
  } catch (const std::exception&) {  // no memory
    if (record.stamps.any()) times_.drop(record.stamps, stream->device);
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
}

void Recorder::describe(ThreadRecords& thread, Record& record, const runtime::Accesses& accesses) const {
  if (options_.shapes) {
    record.first_shape = static_cast<uint32_t>(thread.shapes.size());
    for (const Access& access : accesses)
      if (access.kind == Access::Read || access.kind == Access::Changed) thread.shapes.push_back(access.sizes);
    record.shapes = static_cast<uint32_t>(thread.shapes.size()) - record.first_shape;
  }
  if (options_.flops && record.kind == Record::Kernel) record.flops = flops_of(record.name, accesses);
  if (thread.taken.empty()) return;
  for (const Access& access : accesses) {
    if (access.kind == Access::Read) continue;
    const auto at =
        std::find_if(thread.taken.begin(), thread.taken.end(), [&](const auto& taken) { return taken.address == access.begin; });
    if (at == thread.taken.end()) continue;
    record.memory += at->bytes;
    thread.taken.erase(at);
  }
}

void Recorder::finish(Record::Kind kind, const void* key, const StreamRecord* stream) noexcept {
  try {
    ThreadRecords& thread = here();
    const std::lock_guard lock(thread.mutex);
    // What began last ends first; a range that ends on another thread than it began on is left for the end.
    for (size_t i = thread.open.size(); i-- > 0;) {
      Record& record = thread.records[thread.open[i]];
      if (record.kind != kind || record.key != key) continue;
      if (stream) times_.end(record.stamps, *stream);
      record.end = host_now();
      record.open = false;
      thread.open.erase(thread.open.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory, and so no record either
  }
}

void Recorder::begin(const facts::Kernel& kernel) noexcept {
  (void)add({.kind = Record::Kernel, .name = kernel.op, .site = kernel.site, .key = &kernel, .device = kernel.device}, kernel.stream,
            &kernel.accesses);
}
void Recorder::end(const facts::Kernel& kernel) noexcept { finish(Record::Kernel, &kernel, kernel.stream); }

void Recorder::begin(const facts::Copy& copy) noexcept {
  (void)add({.kind = Record::Copy,
             .name = copy.op,
             .site = copy.site,
             .key = &copy,
             .device = device_of(copy.stream),
             .bytes = static_cast<int64_t>(copy.bytes)},
            copy.stream, nullptr);
}
void Recorder::end(const facts::Copy& copy) noexcept { finish(Record::Copy, &copy, copy.stream); }

void Recorder::begin(const facts::Wait& wait) noexcept {
  (void)add({.kind = Record::Wait, .name = name_of(wait), .site = wait.site, .key = &wait, .device = wait.device}, nullptr, nullptr);
}
void Recorder::end(const facts::Wait& wait) noexcept { finish(Record::Wait, &wait, nullptr); }

void Recorder::begin(const facts::Collective& collective) noexcept {
  (void)add({.kind = Record::Collective,
             .name = collective.op,
             .site = collective.site,
             .key = &collective,
             .device = device_of(collective.stream, collective.device)},
            collective.stream, &collective.accesses);
}
void Recorder::end(const facts::Collective& collective) noexcept { finish(Record::Collective, &collective, collective.stream); }

void Recorder::begin(const facts::Replay& replay) noexcept {
  (void)add({.kind = Record::Replay, .name = "graph replay", .site = replay.site, .key = &replay, .device = device_of(replay.stream)},
            replay.stream, nullptr);
}
void Recorder::end(const facts::Replay& replay) noexcept { finish(Record::Replay, &replay, replay.stream); }

void Recorder::begin(const facts::Scope& scope) noexcept {
  (void)add({.kind = scope.kind == facts::Scope::Range ? Record::Range : Record::Backward,
             .name = scope.name,
             .site = scope.site,
             .key = &scope,
             .node = scope.node,
             .sequence = scope.sequence},
            nullptr, nullptr);
}
void Recorder::end(const facts::Scope& scope) noexcept {
  finish(scope.kind == facts::Scope::Range ? Record::Range : Record::Backward, &scope, nullptr);
}

void Recorder::mark(const facts::Recorded& recorded) noexcept {
  (void)add({.kind = Record::Recorded,
             .open = false,
             .name = recorded.name,
             .site = recorded.site,
             .node = recorded.node,
             .sequence = recorded.sequence},
            nullptr, nullptr);
}

void Recorder::mark(const facts::MemoryMark& mark) noexcept {
  using Mark = facts::MemoryMark;
  if (!options_.memory || (mark.kind != Mark::Allocated && mark.kind != Mark::Freed)) return;
  const auto bytes = static_cast<int64_t>(mark.bytes) * (mark.kind == Mark::Allocated ? 1 : -1);
  if (!add({.kind = Record::Memory, .open = false, .name = "[memory]", .site = mark.site, .device = mark.device, .bytes = bytes}, nullptr,
           nullptr))
    return;
  if (mark.kind == Mark::Freed) return;
  try {
    ThreadRecords& thread = here();
    const std::lock_guard lock(thread.mutex);
    if (thread.taken.size() == kMostTaken) thread.taken.erase(thread.taken.begin());
    thread.taken.push_back({mark.address, bytes});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory
  }
}

}  // namespace tandem::profiler
