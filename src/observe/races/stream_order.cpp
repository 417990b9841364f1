#include "observe/races/stream_order.h"

#include "runtime/stream_record.h"

namespace tandem::observe {

using runtime::StreamRecord;
using runtime::facts::CaptureMark;
using runtime::facts::EventMark;
using runtime::facts::Wait;

Actor StreamOrder::actor(const StreamRecord* stream) {
  const auto [it, is_new] = actors_.try_emplace(stream, static_cast<Actor>(records_.size()));
  if (is_new) records_.push_back(stream);
  return it->second;
}

CapturedGraph* StreamOrder::capture_of(Actor stream) const {
  if (captured_.empty()) return nullptr;
  const auto it = captured_.find(stream);
  return it == captured_.end() ? nullptr : it->second;
}

void StreamOrder::join_capture(CapturedGraph& graph, Actor stream) {
  if (captured_.try_emplace(stream, &graph).second) graph.streams.push_back(stream);
}

void StreamOrder::host_joins(const Clock& clock) {
  host_.join(clock);
  ++host_version_;
}

StreamOrder::Place StreamOrder::place(const StreamRecord* stream) {
  const Actor of = actor(stream);
  CapturedGraph* const graph = capture_of(of);
  return {graph ? &graph->world : &world_, of, graph};
}

StreamOrder::Place StreamOrder::work(const StreamRecord* stream) {
  const Place here = place(stream);
  Clock& clock = here.world->of(here.stream);
  if (!here.graph && world_.host_seen[here.stream] != host_version_) {
    clock.join(host_);
    world_.host_seen[here.stream] = host_version_;
  }
  clock.tick(here.stream);
  return here;
}

void StreamOrder::order(const StreamRecord* earlier, const StreamRecord* later) {
  if (!later) return host_saw(earlier);
  const Place before = place(earlier);
  if (before.graph) join_capture(*before.graph, actor(later));
  const Place behind = place(later);
  if (behind.world != before.world) return;  // work that runs and work that is recorded have no order
  const Clock clock = before.world->of(before.stream);
  behind.world->of(behind.stream).join(clock);
}

void StreamOrder::mark(const EventMark& mark) {
  switch (mark.kind) {
    case EventMark::Recorded: {
      const Place here = place(mark.stream);
      if (here.graph) captured_events_[mark.event] = here.graph;
      else if (!captured_events_.empty()) captured_events_.erase(mark.event);
      here.world->events[mark.event] = here.world->of(here.stream);
      return;
    }
    case EventMark::WaitedFor: {
      if (const auto captured = captured_events_.find(mark.event); captured != captured_events_.end())
        join_capture(*captured->second, actor(mark.stream));
      const Place here = place(mark.stream);
      if (const auto known = here.world->events.find(mark.event); known != here.world->events.end()) {
        here.world->of(here.stream).join(known->second);
      } else if (!here.graph) {
        // Another process's, or recorded before we were told: what it comes behind is not known.
        Clock all;
        for (const Clock& stream : world_.streams) all.join(stream);
        world_.of(here.stream).join(all);
      }
      return;
    }
    case EventMark::Gone:
      world_.events.erase(mark.event);
      captured_events_.erase(mark.event);
      return;
    case EventMark::Passed:
      if (const auto known = world_.events.find(mark.event); known != world_.events.end()) host_joins(known->second);
      return;
  }
}

void StreamOrder::mark(const CaptureMark& mark) {
  if (mark.kind == CaptureMark::Began) {
    auto& graph = graphs_[mark.graph] = std::make_unique<CapturedGraph>();
    return join_capture(*graph, actor(mark.stream));
  }
  const auto it = graphs_.find(mark.graph);
  if (it == graphs_.end()) return;
  CapturedGraph& graph = *it->second;
  for (const Actor stream : graph.streams) captured_.erase(stream);
  std::erase_if(captured_events_, [&](const auto& entry) { return entry.second == &graph; });
  graph.streams.clear();
  graph.world = {};
  if (mark.kind == CaptureMark::Gone) graphs_.erase(it);
}

CapturedGraph* StreamOrder::graph(const void* graph) {
  const auto it = graphs_.find(graph);
  return it == graphs_.end() ? nullptr : it->second.get();
}

void StreamOrder::host_saw(const StreamRecord* stream) {
  const Place here = place(stream);
  if (!here.graph) host_joins(world_.of(here.stream));
}

void StreamOrder::waited(const Wait& wait) {
  switch (wait.kind) {
    case Wait::Stream: return wait.stream ? host_saw(wait.stream) : void();
    case Wait::Device:
      for (Actor stream = 0; stream < records_.size(); ++stream)
        if (records_[stream]->device == wait.device.index() && !capture_of(stream)) host_.join(world_.of(stream));
      ++host_version_;
      return;
    case Wait::Event:
      if (const auto known = world_.events.find(wait.event); known != world_.events.end()) host_joins(known->second);
      return;
    case Wait::Memory:      // what it brought is told as Reusable
    case Wait::Collective:  // of the CPU
    case Wait::Queue:       // some of the stream's work is done, but nobody asked for that
      return;
  }
}

}  // namespace tandem::observe
