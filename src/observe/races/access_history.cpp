#include "observe/races/access_history.h"

#include <algorithm>
#include <iterator>

namespace tandem::observe {
namespace {

bool is_behind(const Clock& now, const Use& use) { return use.tick <= now.of(use.stream); }

}  // namespace

/// The first range that ends behind `begin`.
AccessHistory::Ranges::iterator AccessHistory::first_behind(uintptr_t begin) {
  auto it = ranges_.upper_bound(begin);
  if (it != ranges_.begin() && std::prev(it)->second.end > begin) --it;
  return it;
}

/// Cuts the range that `at` lies within in two.
void AccessHistory::split(uintptr_t at) {
  const auto it = first_behind(at);
  if (it == ranges_.end() || it->first >= at) return;
  ranges_.emplace_hint(std::next(it), at, it->second);
  it->second.end = at;
}

void AccessHistory::tell(const Range& range, bool writes, const Clock& now, const Conflict& conflict) {
  for (const Use& earlier : range.uses)
    if ((writes || earlier.writes) && !is_behind(now, earlier)) conflict(earlier);
}

void AccessHistory::drop(Range& range, const Clock& done) {
  std::erase_if(range.uses, [&](const Use& use) { return is_behind(done, use); });
}

void AccessHistory::add(uintptr_t begin, uintptr_t end, const Use& use, const Clock& now, const Conflict& conflict) {
  if (begin >= end) return;
  auto it = first_behind(begin);
  if (use.writes && it != ranges_.end() && it->first == begin && it->second.end == end) {
    tell(it->second, true, now, conflict);
    it->second.uses.resize(1);
    it->second.uses[0] = use;
    return;
  }
  split(begin);
  split(end);
  it = first_behind(begin);
  if (use.writes) {
    const auto first = it;
    for (; it != ranges_.end() && it->first < end; ++it) tell(it->second, true, now, conflict);
    ranges_.emplace_hint(ranges_.erase(first, it), begin, Range{end, {use}});
    return;
  }
  for (uintptr_t at = begin; at < end;) {
    if (it == ranges_.end() || it->first > at) {  // nobody used these
      const uintptr_t until = it == ranges_.end() ? end : std::min(end, it->first);
      it = std::next(ranges_.emplace_hint(it, at, Range{until, {use}}));
      at = until;
      continue;
    }
    Range& range = it->second;
    tell(range, false, now, conflict);
    // Whoever comes behind this read comes behind the reads before it.
    std::erase_if(range.uses, [&](const Use& earlier) { return !earlier.writes && is_behind(now, earlier); });
    range.uses.push_back(use);
    at = range.end;
    ++it;
  }
}

void AccessHistory::check(uintptr_t begin, uintptr_t end, bool writes, const Clock& now, const Conflict& conflict) const {
  for (auto it = const_cast<AccessHistory*>(this)->first_behind(begin); it != ranges_.end() && it->first < end; ++it)
    tell(it->second, writes, now, conflict);
}

void AccessHistory::hand_out(uintptr_t begin, uintptr_t end, const Clock& home, const Clock& done) {
  auto it = first_behind(begin);
  if (it == ranges_.end() || it->first >= end) return;
  split(begin);
  split(end);
  bool others = false;
  Use last;
  for (it = first_behind(begin); it != ranges_.end() && it->first < end;) {
    drop(it->second, done);
    for (const Use& use : it->second.uses) {
      if (!is_behind(home, use)) others = true;
      else if (use.order > last.order) last = use;
    }
    it = it->second.uses.empty() ? ranges_.erase(it) : std::next(it);
  }
  if (others || last.order == 0) return;  // of another stream's work under way nothing may be lost
  forget(begin, end);
  last.writes = true;
  ranges_.emplace(begin, Range{end, {last}});
}

void AccessHistory::drop(uintptr_t begin, uintptr_t end, const Clock& done) {
  auto it = first_behind(begin);
  if (it == ranges_.end() || it->first >= end) return;
  split(begin);
  split(end);
  for (it = first_behind(begin); it != ranges_.end() && it->first < end;) {
    drop(it->second, done);
    it = it->second.uses.empty() ? ranges_.erase(it) : std::next(it);
  }
}

void AccessHistory::forget(uintptr_t begin, uintptr_t end) {
  auto first = first_behind(begin);
  if (first == ranges_.end() || first->first >= end) return;
  split(begin);
  split(end);
  first = first_behind(begin);
  ranges_.erase(first, ranges_.lower_bound(end));
}

size_t AccessHistory::shrink(size_t limit, const Clock& done) {
  for (auto it = ranges_.begin(); it != ranges_.end();) {
    drop(it->second, done);
    it = it->second.uses.empty() ? ranges_.erase(it) : std::next(it);
  }
  if (ranges_.size() <= limit) return 0;
  std::vector<uint64_t> orders;
  for (const auto& [begin, range] : ranges_) orders.push_back(range.uses.back().order);
  const auto cut = orders.end() - static_cast<std::ptrdiff_t>(limit);
  std::nth_element(orders.begin(), cut, orders.end());
  const uint64_t oldest_kept = cut == orders.end() ? UINT64_MAX : *cut;
  return std::erase_if(ranges_, [&](const auto& entry) { return entry.second.uses.back().order < oldest_kept; });
}

}  // namespace tandem::observe
