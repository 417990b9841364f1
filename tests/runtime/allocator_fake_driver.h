// A driver without hardware: memory is a budget over malloc, and streams move on only when a test says so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "runtime/driver.h"
#include "runtime/stream_record.h"

namespace tandem::runtime {

/// Events of a stream are numbered; `pass` lets a stream reach all that have been recorded so far. Synchronising does the same.
class FakeDriver : public Driver {
 public:
  struct Stream {
    StreamRecord record;
    uint64_t recorded = 0, passed = 0;
    int synchronized = 0;
  };
  struct Event {
    Stream* stream = nullptr;
    uint64_t number = 0;
  };
  /// What users see lies so far from what kernels see.
  static constexpr size_t kUserOffset = size_t{1} << 46;

  explicit FakeDriver(size_t budget = size_t{1} << 40) : budget_(budget) {}
  ~FakeDriver() override {
    for (const auto& [address, bytes] : held) std::free(address);
    for (const auto& [address, bytes] : pinned) std::free(address);
  }

  /// A stream of a GPU; the first is number 0.
  const StreamRecord* stream(int device = 0) {
    auto& made = streams_.emplace_back(std::make_unique<Stream>());
    made->record = {device, static_cast<int>(streams_.size()) - 1, 0, made.get()};
    return &made->record;
  }
  static void pass(const StreamRecord* stream) { of(stream->handle).passed = of(stream->handle).recorded; }
  static Stream& of(StreamHandle handle) { return *static_cast<Stream*>(handle); }

  [[nodiscard]] int device_count() const override { return 1; }
  [[nodiscard]] const cuda::DeviceProperties& properties(int) const override { return properties_; }
  [[nodiscard]] bool can_access_peer(int, int) const override { return true; }

  void* allocate(int, size_t bytes) override {
    const std::lock_guard lock(mutex);
    if (bytes > budget_ - used) return nullptr;
    void* const address = std::aligned_alloc(4096, bytes);
    used += bytes;
    held[address] = bytes;
    allocations.push_back(bytes);
    return address;
  }
  void free(int, void* address, size_t bytes) noexcept override {
    const std::lock_guard lock(mutex);
    wrong_frees += held.count(address) == 0 || held[address] != bytes;
    held.erase(address);
    used -= bytes;
    frees.push_back(bytes);
    std::free(address);
  }
  [[nodiscard]] std::pair<size_t, size_t> memory_info(int) const override { return {budget_ - used, budget_}; }
  [[nodiscard]] void* user_address(int, void* address) const override {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) + kUserOffset);
  }
  [[nodiscard]] void* kernel_address(int, void* address) const override {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) - kUserOffset);
  }

  void* allocate_pinned(size_t bytes) override {
    const std::lock_guard lock(mutex);
    if (pinned_used + bytes > pinned_budget) return nullptr;
    pinned_used += bytes;
    void* const address = std::aligned_alloc(4096, bytes);
    pinned[address] = bytes;
    return address;
  }
  void free_pinned(void* address, size_t bytes) noexcept override {
    const std::lock_guard lock(mutex);
    wrong_frees += pinned.count(address) == 0 || pinned[address] != bytes;
    pinned.erase(address);
    pinned_used -= bytes;
    std::free(address);
  }

  StreamHandle create_stream(int, int) override { throw Error("not here"); }
  [[nodiscard]] bool query_stream(StreamHandle) override { return true; }
  void synchronize_stream(StreamHandle stream, Site) override {
    const std::lock_guard lock(mutex);
    reach(of(stream), of(stream).recorded);
  }
  void synchronize_device(int, Site) override {}

  EventHandle create_event(int, bool) override {
    const std::lock_guard lock(mutex);
    ++events_made;
    return new Event;
  }
  [[nodiscard]] ShareHandle share_memory(int, void*, size_t) override { throw Error("not here"); }
  [[nodiscard]] void* open_memory(int, const ShareHandle&) override { throw Error("not here"); }
  void close_memory(int, void*) noexcept override {}
  EventHandle create_shared_event(int) override { throw Error("not here"); }
  [[nodiscard]] ShareHandle share_event(EventHandle) override { throw Error("not here"); }
  EventHandle open_event(int, const ShareHandle&) override { throw Error("not here"); }
  void destroy_event(EventHandle event) noexcept override {
    const std::lock_guard lock(mutex);
    ++events_destroyed;
    delete static_cast<Event*>(event);
  }
  void record_event(EventHandle event, StreamHandle stream) override {
    const std::lock_guard lock(mutex);
    if (refuse_records) throw Error("no record");
    *static_cast<Event*>(event) = {&of(stream), ++of(stream).recorded};
  }
  [[nodiscard]] bool record_event_outside_capture(EventHandle event, StreamHandle stream) override {
    if (capturing(stream)) return false;
    record_event(event, stream);
    return true;
  }
  void wait_event(StreamHandle, EventHandle) override {}
  [[nodiscard]] bool query_event(EventHandle event) override {
    const std::lock_guard lock(mutex);
    const Event& known = *static_cast<Event*>(event);
    return known.stream->passed >= known.number;
  }
  void synchronize_event(EventHandle event, Site) override {
    const std::lock_guard lock(mutex);
    reach(*static_cast<Event*>(event)->stream, static_cast<Event*>(event)->number);
  }
  /// The first that has passed; else waits for the first whose stream gets on at all.
  [[nodiscard]] size_t wait_for_any(std::span<const EventHandle> events, Site site) override {
    for (size_t i = 0; i < events.size(); ++i)
      if (query_event(events[i])) return i;
    size_t i = 0;
    while (static_cast<Event*>(events[i])->stream == held_up) ++i;  // beyond the last: the allocator would wait for ever
    synchronize_event(events[i], site);
    return i;
  }
  [[nodiscard]] double elapsed_ms(EventHandle, EventHandle) override { return 0; }
  void copy(void*, int, const void*, int, size_t, StreamHandle, const char*, Site) override {}
  void host_function(StreamHandle, void (*)(void*), void*) override {}
  void begin_capture(StreamHandle stream) override { captured = stream; }
  [[nodiscard]] bool capturing(StreamHandle stream) override { return stream == captured; }
  [[nodiscard]] GraphHandle end_capture(StreamHandle) override { return std::exchange(captured, nullptr); }
  void launch_graph(GraphHandle, StreamHandle, const Replay*, Site) override {}
  void destroy_graph(GraphHandle) noexcept override {}
  [[nodiscard]] Queue queue(StreamHandle, const char*, Site) override { return {}; }
  void check_readable(int, const void*, size_t) override {}
  void forget(int, const void* address, size_t bytes) noexcept override {
    const std::lock_guard lock(mutex);
    forgotten = {address, bytes};
  }

  mutable std::mutex mutex;
  size_t used = 0, pinned_used = 0, pinned_budget = size_t{1} << 40;
  std::map<void*, size_t> held, pinned;
  std::vector<size_t> allocations, frees;
  StreamHandle captured = nullptr, held_up = nullptr;
  int wrong_frees = 0, events_made = 0, events_destroyed = 0;
  bool fail_next_synchronize = false, refuse_records = false;
  std::pair<const void*, size_t> forgotten;

 private:
  /// A stream has been waited for; a capture would be spoilt by that.
  void reach(Stream& stream, uint64_t number) {
    if (&stream == captured) throw Error("a stream that is being captured was waited for");
    ++stream.synchronized;
    stream.passed = std::max(stream.passed, number);
    if (!std::exchange(fail_next_synchronize, false)) return;
    throw Error("[matmul] the kernel failed");
  }

  const size_t budget_;
  std::vector<std::unique_ptr<Stream>> streams_;
  cuda::DeviceProperties properties_;
};

}  // namespace tandem::runtime
