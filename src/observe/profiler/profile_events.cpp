#include "observe/profiler/profile_events.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace tandem::profiler {
namespace {

/// A node has an address, another one may have it later: then the sequence number differs, or the thread and so the time.
class ForwardIds {
 public:
  void add(const Record& recorded) { ids_.try_emplace({recorded.node, recorded.sequence, recorded.begin}, next_++); }
  /// Of a node at that time, which may have been recorded before the profile began.
  int64_t of(const Record& record) {
    if (!record.node) return -1;
    const auto after = ids_.upper_bound({record.node, record.sequence, record.begin});
    if (after != ids_.begin()) {
      const auto& [key, id] = *std::prev(after);
      if (std::get<0>(key) == record.node && std::get<1>(key) == record.sequence) return id;
    }
    ids_.try_emplace({record.node, record.sequence, 0}, next_);
    return next_++;
  }

 private:
  std::map<std::tuple<const void*, uint64_t, int64_t>, int64_t> ids_;
  int64_t next_ = 0;
};

/// Whether a node's name is an operation's: "LogSoftmaxBackward0" and "log_softmax".
bool is_of(std::string_view node, std::string_view op) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  size_t at = 0;
  for (const char c : op) {
    if (c == '_') continue;
    if (at == node.size() || lower(node[at]) != lower(c)) return false;
    ++at;
  }
  return node.substr(at).starts_with("Backward");
}

const char* category_of(Record::Kind kind) {
  switch (kind) {
    case Record::Kernel: return "operation";
    case Record::Copy: return "copy";
    case Record::Wait: return "wait";
    case Record::Collective: return "collective";
    case Record::Replay: return "graph";
    case Record::Range: return "range";
    case Record::Backward: return "backward";
    case Record::Recorded:
    case Record::Memory: return "memory";
  }
  return "";
}

bool is_operation(Record::Kind kind) { return kind == Record::Kernel || kind == Record::Copy || kind == Record::Collective; }

/// Makes the events of one thread after the other.
class Maker {
 public:
  explicit Maker(const Recorder& recorder) : recorder_(recorder) {
    std::vector<const Record*> recorded;
    for (const ThreadRecords& thread : recorder.threads())
      for (size_t i = 0; i < thread.records.size(); ++i)
        if (thread.records[i].kind == Record::Recorded) recorded.push_back(&thread.records[i]);
    std::sort(recorded.begin(), recorded.end(), [](const Record* a, const Record* b) { return a->begin < b->begin; });
    for (const Record* each : recorded) ids_.add(*each);
  }

  void add(const ThreadRecords& thread) {
    thread_ = &thread;
    outer_.clear();
    last_ = -1;
    pending_ = nullptr;
    for (size_t i = 0; i < thread.records.size(); ++i) {
      const Record& record = thread.records[i];
      while (!outer_.empty() && ends_.back() <= record.begin) pop();
      if (record.kind == Record::Recorded) link(record);
      else add(record);
    }
    while (!outer_.empty()) pop();
    if (pending_) settle(*pending_);
  }

  std::vector<Event> finish() {
    untangle_streams();
    std::vector<size_t> order(events_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    // What holds another one stands before it, also where both begin at once.
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(events_[a].start, -events_[a].duration) < std::pair(events_[b].start, -events_[b].duration);
    });
    std::vector<int64_t> place(events_.size());
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int64_t>(i);
    std::vector<Event> sorted;
    sorted.reserve(events_.size());
    for (const size_t i : order) {
      Event& event = sorted.emplace_back(std::move(events_[i]));
      event.id = static_cast<int64_t>(sorted.size()) - 1;
      for (int64_t* const link : {&event.parent, &event.launch})
        if (*link >= 0) *link = place[static_cast<size_t>(*link)];
    }
    return sorted;
  }

 private:
  void pop() {
    outer_.pop_back();
    ends_.pop_back();
  }

  void add(const Record& record) {
    Event event;
    event.name = record.name;
    event.category = category_of(record.kind);
    event.thread = thread_->thread;
    event.file = record.site.file;
    event.line = record.site.line;
    event.bytes = record.bytes;
    event.memory = record.memory;
    event.flops = record.flops;
    event.start = nanoseconds(std::max<int64_t>(0, record.begin - recorder_.began()));
    for (uint32_t i = 0; i < record.shapes; ++i) {
      const Shape& sizes = thread_->shapes[record.first_shape + i];
      event.shapes.emplace_back(sizes.begin(), sizes.end());
    }
    if (!outer_.empty()) {
      event.parent = outer_.back();
      event.forward_id = events_[static_cast<size_t>(outer_.back())].forward_id;
    }
    if (record.kind == Record::Memory) {
      event.device = record.device;
      events_.push_back(std::move(event));
      return;
    }
    // What has not ended ends with the recording, or with what it is a part of.
    int64_t end = record.open ? recorder_.ended() : record.end;
    if (!ends_.empty()) end = std::min(end, ends_.back());
    event.duration = nanoseconds(std::max<int64_t>(0, end - recorder_.began() - event.start.count()));
    if (record.kind == Record::Backward && record.node) event.forward_id = ids_.of(record);
    const auto at = static_cast<int64_t>(events_.size());
    if (is_operation(record.kind)) {
      if (pending_ && std::string_view(pending_->site.file) == record.site.file && pending_->site.line == record.site.line &&
          is_of(pending_->name, record.name)) {
        event.forward_id = ids_.of(*pending_);
        pending_ = nullptr;
        last_ = -1;
      } else {
        last_ = at;
      }
    }
    const int64_t forward_id = event.forward_id;
    events_.push_back(std::move(event));
    outer_.push_back(at);
    ends_.push_back(end);
    if (record.span.begin != 0) add_on_device(record, at, forward_id);
  }

  void add_on_device(const Record& record, int64_t launch, int64_t forward_id) {
    Event event = events_[static_cast<size_t>(launch)];
    if (record.kind == Record::Kernel) event.category = "kernel";
    event.device = record.device;
    event.stream = record.stream;
    event.parent = -1;
    event.launch = launch;
    event.forward_id = forward_id;
    event.memory = 0;
    const int64_t begin = std::max(record.span.begin, record.begin);
    event.start = nanoseconds(std::max<int64_t>(0, begin - recorder_.began()));
    event.duration = nanoseconds(std::max<int64_t>(0, record.span.end - begin));
    launched_.push_back(events_.size());
    events_.push_back(std::move(event));
  }

  /// An operation and its node: some record it before they launch, some after. The name decides, else what was launched last for the line.
  void link(const Record& recorded) {
    if (last_ >= 0) {
      Event& last = events_[static_cast<size_t>(last_)];
      if (is_of(recorded.name, last.name) && last.line == recorded.site.line && last.file == recorded.site.file) {
        settle(recorded);
        return;
      }
    }
    if (pending_) settle(*pending_);
    pending_ = &recorded;
  }

  void settle(const Record& recorded) {
    if (last_ >= 0) {
      Event& last = events_[static_cast<size_t>(last_)];
      if (last.line == recorded.site.line && last.file == recorded.site.file) {
        last.forward_id = ids_.of(recorded);
        const auto on_device = static_cast<size_t>(last_) + 1;
        if (on_device < events_.size() && events_[on_device].launch == last_) events_[on_device].forward_id = last.forward_id;
      }
    }
    last_ = -1;
    pending_ = nullptr;
  }

  /// Work of one stream runs in order. Where two threads queue on it, stamps of one may stand around another's work.
  void untangle_streams() {
    std::map<std::pair<int, int>, std::vector<size_t>> streams;
    for (const size_t i : launched_) streams[{events_[i].device.index(), events_[i].stream}].push_back(i);
    for (auto& [stream, all] : streams) {
      std::stable_sort(all.begin(), all.end(), [&](size_t a, size_t b) { return events_[a].end() < events_[b].end(); });
      nanoseconds free{0};
      for (const size_t i : all) {
        Event& event = events_[i];
        const nanoseconds end = event.end();
        event.start = std::max(event.start, free);
        event.duration = std::max(nanoseconds(0), end - event.start);
        free = event.end();
      }
    }
  }

  const Recorder& recorder_;
  ForwardIds ids_;
  std::vector<Event> events_;
  std::vector<size_t> launched_;  // events on GPUs
  const ThreadRecords* thread_ = nullptr;
  std::vector<int64_t> outer_, ends_;  // events that hold the next one, and when they end
  int64_t last_ = -1;                  // the last operation that no node has been found for
  const Record* pending_ = nullptr;    // the last node that no operation has been found for
};

}  // namespace

std::vector<Event> events_of(const Recorder& recorder) {
  Maker maker(recorder);
  for (const ThreadRecords& thread : recorder.threads()) maker.add(thread);
  return maker.finish();
}

}  // namespace tandem::profiler
