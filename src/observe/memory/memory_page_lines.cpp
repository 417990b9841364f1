#include "observe/memory/memory_page_lines.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_map>
#include <utility>

namespace tandem::cuda::memory::detail {
namespace {

constexpr size_t kMostPoints = 600;  // of a timeline

void sort_by_bytes(std::vector<Holder>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
}

/// The memory as it was after one event, moved from the last event towards the first.
class Replay {
 public:
  Replay(const std::vector<HistoryEntry>& events, const std::vector<SegmentInfo>& segments, size_t allocated, size_t reserved)
      : events_(events), at_(events.size()), allocated_(allocated), reserved_(reserved) {
    for (const SegmentInfo& segment : segments) {
      uintptr_t address = segment.address;
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == "active_allocated") add(address, {number_of(block.file, block.line), block.size, block.requested_size});
        address += block.size;
      }
    }
  }

  /// Goes back by one event; false before the first. Afterwards `index` is that of the event that the state follows.
  bool step() {
    if (at_ < events_.size()) undo(events_[at_]);
    if (at_ == 0) return false;
    --at_;
    return true;
  }
  [[nodiscard]] size_t index() const { return at_; }
  [[nodiscard]] Moment moment() const {
    return {std::chrono::duration<double>(events_[at_].time - events_.front().time).count(), allocated_, reserved_, {}};
  }
  [[nodiscard]] size_t allocated() const { return allocated_; }
  [[nodiscard]] size_t reserved() const { return reserved_; }
  /// Of all lines that were met so far; a line keeps its place.
  [[nodiscard]] const std::vector<Holder>& lines() const { return lines_; }

 private:
  struct Block {
    size_t line, bytes, requested;
  };

  size_t number_of(const std::string& file, int line) {
    const auto [place, fresh] = numbers_.try_emplace({file, line}, lines_.size());
    if (fresh) lines_.push_back({file, line});
    return place->second;
  }
  void add(uintptr_t address, Block block) {
    if (const auto [place, fresh] = blocks_.try_emplace(address, block); !fresh) return;
    Holder& line = lines_[block.line];
    line.bytes += block.bytes;
    line.requested += block.requested;
    ++line.blocks;
  }
  void remove(uintptr_t address) {
    const auto place = blocks_.find(address);
    if (place == blocks_.end()) return;
    Holder& line = lines_[place->second.line];
    line.bytes -= place->second.bytes;
    line.requested -= place->second.requested;
    --line.blocks;
    blocks_.erase(place);
  }
  void undo(const HistoryEntry& event) {
    // A thread may have taken or freed memory since the figures were asked for: never below nothing.
    const auto back = [&event](size_t& figure, bool grew) { figure = grew ? figure - std::min(figure, event.size) : figure + event.size; };
    const bool taken = event.action == "alloc";
    if (taken) remove(event.address);
    else if (event.action == "free_requested") add(event.address, {number_of(event.file, event.line), event.size, event.requested});
    if (taken || event.action == "free_requested") back(allocated_, taken);
    if (event.action == "segment_alloc" || event.action == "segment_free") back(reserved_, event.action == "segment_alloc");
  }

  const std::vector<HistoryEntry>& events_;
  size_t at_, allocated_, reserved_;
  std::map<std::pair<std::string, int>, size_t> numbers_;
  std::vector<Holder> lines_;
  std::unordered_map<uintptr_t, Block> blocks_;
};

}  // namespace

std::vector<Holder> holders(const std::vector<SegmentInfo>& segments) {
  std::map<std::pair<std::string, int>, Holder> by_line;
  for (const SegmentInfo& segment : segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == "inactive") continue;
      Holder& holder = by_line[{block.file, block.line}];
      holder.file = block.file;
      holder.line = block.line;
      holder.bytes += block.size;
      holder.requested += block.requested_size;
      ++holder.blocks;
    }
  }
  std::vector<Holder> out;
  for (auto& [line, holder] : by_line) out.push_back(std::move(holder));
  sort_by_bytes(out);
  return out;
}

OverTime over_time(const std::vector<HistoryEntry>& events, const std::vector<SegmentInfo>& segments, size_t allocated, size_t reserved) {
  OverTime out;
  if (events.empty()) return out;
  const Replay now(events, segments, allocated, reserved);
  // Where the peak was, and which event of each bunch is shown: the first after which most was allocated.
  const size_t bunch = events.size() / kMostPoints + 1;
  std::vector<size_t> shown((events.size() - 1) / bunch + 1), most(shown.size(), 0), most_reserved(shown.size(), 0);
  size_t peak = 0, peak_bytes = 0;
  for (Replay replay = now; replay.step();) {
    const size_t index = replay.index(), of = index / bunch;
    if (replay.allocated() >= most[of]) most[of] = replay.allocated(), shown[of] = index;
    most_reserved[of] = std::max(most_reserved[of], replay.reserved());
    if (replay.allocated() >= peak_bytes) peak_bytes = replay.allocated(), peak = index;
  }
  Replay replay = now;
  while (replay.step() && replay.index() != peak) {
  }
  out.peak = replay.moment();
  std::vector<size_t> largest;  // numbers of lines
  for (size_t i = 0; i < replay.lines().size(); ++i)
    if (replay.lines()[i].bytes > 0) largest.push_back(i);
  std::stable_sort(largest.begin(), largest.end(), [&](size_t a, size_t b) { return replay.lines()[a].bytes > replay.lines()[b].bytes; });
  for (const size_t i : largest) out.at_peak.push_back(replay.lines()[i]);
  largest.resize(std::min(largest.size(), kLinesOverTime));

  out.moments.resize(shown.size());
  for (Replay again = now; again.step();) {
    const size_t of = again.index() / bunch;
    if (shown[of] != again.index()) continue;
    out.moments[of] = again.moment();
    out.moments[of].reserved = most_reserved[of];
    for (const size_t i : largest) out.moments[of].by_line.push_back(i < again.lines().size() ? again.lines()[i].bytes : 0);
  }
  return out;
}

}  // namespace tandem::cuda::memory::detail
