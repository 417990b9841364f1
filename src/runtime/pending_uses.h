// Memory that was freed while other streams may still use it: an event per use, and who is waiting for it. Shared by the GPU's and the
// pinned cache.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "runtime/driver.h"
#include "runtime/stream_record.h"

namespace tandem::runtime {

/// Events of one driver, used again and again: making one costs a driver more than recording it. Guarded by its owner's lock.
class EventPool {
 public:
  explicit EventPool(Driver& driver) : driver_(driver) {}
  ~EventPool() {
    for (const auto& [device, event] : idle_) driver_.destroy_event(event);
  }
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  [[nodiscard]] EventHandle take(int device) {
    for (auto& idle : idle_) {
      if (idle.first != device) continue;
      const EventHandle event = idle.second;
      idle = idle_.back();
      idle_.pop_back();
      return event;
    }
    return driver_.create_event(device, false);
  }
  void give(int device, EventHandle event) { idle_.emplace_back(device, event); }

 private:
  Driver& driver_;
  std::vector<std::pair<int, EventHandle>> idle_;
};

/// Recorded uses of blocks, in order, per stream. `Block` counts its own in `pending`. Guarded by its owner's lock.
template <class Block>
class PendingUses {
 public:
  explicit PendingUses(Driver& driver) : driver_(driver), events_(driver) {}
  ~PendingUses() {
    for (const auto& [stream, uses] : queues_)
      for (const auto& [event, block] : uses) events_.give(stream->device, event);
  }
  PendingUses(const PendingUses&) = delete;
  PendingUses& operator=(const PendingUses&) = delete;

  [[nodiscard]] bool empty() const { return count_ == 0; }

  /// Marks the end of what is queued on `stream` now as a use of `block`. An event in a capture could never be asked: it is made after it.
  void add(Block* block, const StreamRecord* stream) {
    if (!mark(block, stream)) captured_.emplace_back(block, stream);
    ++block->pending;
    ++count_;
  }

  /// Drops the uses that have passed; calls `free(block)` for each block that has none left.
  template <class Free>
  void process(Free free) {
    for (size_t i = captured_.size(); i-- > 0;) {
      const auto [block, stream] = captured_[i];
      if (mark(block, stream)) captured_.erase(captured_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (auto& [stream, uses] : queues_) {
      while (!uses.empty() && driver_.query_event(uses.front().first)) {
        const auto [event, block] = uses.front();
        uses.pop_front();
        --count_;
        events_.give(stream->device, event);
        if (--block->pending == 0) free(block);
      }
    }
  }

  /// The streams on which uses have not passed, added to `out`.
  void streams(std::vector<const StreamRecord*>& out) const {
    for (const auto& [stream, uses] : queues_)
      if (!uses.empty()) out.push_back(stream);
  }

 private:
  struct Queue {
    const StreamRecord* stream;
    std::deque<std::pair<EventHandle, Block*>> uses;
  };
  Queue& queue(const StreamRecord* stream) {
    for (auto& known : queues_)
      if (known.stream == stream) return known;
    return queues_.emplace_back(Queue{stream, {}});
  }

  /// An event behind what is queued on `stream`, in its queue; false where the stream is being captured.
  bool mark(Block* block, const StreamRecord* stream) {
    const EventHandle event = events_.take(stream->device);
    try {
      if (driver_.record_event_outside_capture(event, stream->handle)) {
        queue(stream).uses.emplace_back(event, block);
        return true;
      }
    } catch (...) {
      events_.give(stream->device, event);
      throw;
    }
    events_.give(stream->device, event);
    return false;
  }

  Driver& driver_;
  EventPool events_;
  std::vector<Queue> queues_;
  std::vector<std::pair<Block*, const StreamRecord*>> captured_;
  size_t count_ = 0;
};

}  // namespace tandem::runtime
