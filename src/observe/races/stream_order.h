// What comes behind what, as observers are told of it: streams, events, waits of the host, and graphs being captured.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "observe/races/access_history.h"
#include "observe/races/happens_before.h"
#include "runtime/observer.h"

namespace tandem::observe {

/// Streams and what they use. A capture has one of its own, as its work does not run with all other's.
struct World {
  std::vector<Clock> streams;       // what the next work of each comes behind
  std::vector<uint64_t> host_seen;  // the version of the host's clock that each has joined
  std::unordered_map<const void*, Clock> events;
  AccessHistory device, host;  // uses of GPUs' memory, and of the host's

  Clock& of(Actor stream) {
    if (stream >= streams.size()) {
      streams.resize(stream + 1);
      host_seen.resize(stream + 1);
    }
    return streams[stream];
  }
};

/// What a graph holds: its captured work's uses, which each replay makes again.
struct CapturedGraph {
  struct Part {
    uintptr_t begin, end;
    bool on_host;
    Use use;
  };
  World world;
  std::vector<Actor> streams;  // that are a part of the capture
  std::vector<Part> parts;
};

/// Not for several threads.
class StreamOrder {
 public:
  /// Where a piece of work belongs.
  struct Place {
    World* world;
    Actor stream;
    CapturedGraph* graph;  // nullptr: it runs
  };
  [[nodiscard]] Place place(const runtime::StreamRecord* stream);
  /// The same for new work: its tick is the stream's newest.
  [[nodiscard]] Place work(const runtime::StreamRecord* stream);

  void order(const runtime::StreamRecord* earlier, const runtime::StreamRecord* later);
  void mark(const runtime::facts::EventMark& mark);
  void mark(const runtime::facts::CaptureMark& mark);
  /// The host has seen the end of what a wait names.
  void waited(const runtime::facts::Wait& wait);
  /// The host has seen the end of all that is queued on the stream.
  void host_saw(const runtime::StreamRecord* stream);
  [[nodiscard]] CapturedGraph* graph(const void* graph);

  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] const Clock& host() const { return host_; }
  [[nodiscard]] const runtime::StreamRecord* record(Actor stream) const { return records_[stream]; }

 private:
  Actor actor(const runtime::StreamRecord* stream);
  CapturedGraph* capture_of(Actor stream) const;
  void join_capture(CapturedGraph& graph, Actor stream);
  void host_joins(const Clock& clock);

  World world_;
  Clock host_;
  uint64_t host_version_ = 0;  // counts its changes
  std::vector<const runtime::StreamRecord*> records_;
  std::unordered_map<const runtime::StreamRecord*, Actor> actors_;
  std::unordered_map<const void*, std::unique_ptr<CapturedGraph>> graphs_;
  std::unordered_map<Actor, CapturedGraph*> captured_;               // streams
  std::unordered_map<const void*, CapturedGraph*> captured_events_;  // that were last recorded in a capture
};

}  // namespace tandem::observe
