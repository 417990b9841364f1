// Errors of queued work. Everything here happens after something went wrong, so one mutex for all of it is enough.
#include "runtime/virtual/faults.h"

#include <algorithm>

#include "runtime/launch.h"
#include "runtime/virtual/stream.h"

namespace tandem::runtime::virtual_gpu {

void Faults::poison(Point at, const std::shared_ptr<Failure>& failure) {
  Poison& poison = at.stream->poison();
  if (poison.failure) return;  // the first error stays
  poison.failure = failure;
  poison.number = at.number;
  failure->poisoned.push_back(at.stream);
  poison.any.store(true, std::memory_order_release);
}

void Faults::raise(Point at, Trouble trouble, std::string text, TaskHeader* task) {
  const std::lock_guard lock(mutex_);
  auto failure = std::make_shared<Failure>();
  failure->order = ++failures_;
  failure->op = task->op;
  failure->trouble = trouble;
  failure->text = std::move(text);
  failure->queued_at = task->site();
  mark(task, *failure);
  poison(at, failure);
}

void Faults::adopt(Point at, Point for_) {
  if (!for_.stream->poison().any.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  const Poison& theirs = for_.stream->poison();
  if (theirs.failure && theirs.number <= for_.number) poison(at, theirs.failure);
}

void Faults::skip(Stream& stream, TaskHeader* task) {
  const std::lock_guard lock(mutex_);
  // Someone may have been told of the failure since the caller looked; the task is skipped all the same, so its writes are marked.
  const Poison& poison = stream.poison();
  if (poison.failure) mark(task, *poison.failure);
  else mark(task, std::make_shared<const std::string>(str('[', task->op, "] was skipped after an error in earlier work")));
}

bool Faults::taints(Point at, TaskHeader* task) {
  const std::lock_guard lock(mutex_);
  for (const Range& range : task->read()) {
    const auto text = find(range.address, range.bytes);
    if (!text) continue;
    if (task->kind == Kind::ToHost) {
      auto failure = std::make_shared<Failure>();
      failure->order = ++failures_;
      failure->text = str('[', task->op, "] reads values that were never computed: ", *text);
      poison(at, failure);
    } else {
      mark(task, text);
    }
    return true;
  }
  return false;
}

std::string Faults::why(Stream& stream, TaskHeader* task) const {
  const std::lock_guard lock(mutex_);
  if (const auto& failure = stream.poison().failure) return failure->text;
  for (const Range& range : task->read())
    if (const auto text = find(range.address, range.bytes)) return *text;
  return "the program is ending";
}

void Faults::wrote(TaskHeader* task) {
  const std::lock_guard lock(mutex_);
  for (const Range& range : task->written()) {
    const auto begin = reinterpret_cast<uintptr_t>(range.address);
    if (range.dense) unmark(begin, begin + range.bytes);
  }
}

void Faults::throw_first(std::span<const Point> points) {
  std::shared_ptr<Failure> first;
  {
    const std::lock_guard lock(mutex_);
    for (const Point& point : points) {
      const Poison& poison = point.stream->poison();
      if (poison.failure && poison.number <= point.number && (!first || poison.failure->order < first->order)) first = poison.failure;
    }
    if (!first) return;
    for (Stream* stream : first->poisoned) {
      stream->poison().any.store(false, std::memory_order_release);
      stream->poison().failure.reset();
    }
    first->poisoned.clear();
  }
  throw_trouble(first->op, first->trouble, first->text, first->queued_at);
}

void Faults::check_readable(const void* address, size_t bytes) {
  if (!any_marks()) return;
  std::shared_ptr<const std::string> text;
  {
    const std::lock_guard lock(mutex_);
    text = find(address, bytes);
  }
  if (text) fail("these values were never computed: ", *text, "; compute them again before reading them");
}

void Faults::forget(const void* address, size_t bytes) {
  if (!any_marks()) return;
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  unmark(begin, begin + bytes);
}

void Faults::mark(TaskHeader* task, const Failure& failure) {
  if (task->writes == 0) return;
  const bool own = failure.text.starts_with(str('[', task->op, ']'));
  mark(task, std::make_shared<const std::string>(
                 own ? failure.text
                     : str('[', task->op, "] (", task->file, ':', task->line, ") was skipped after an earlier error: ", failure.text)));
}

void Faults::mark(TaskHeader* task, const std::shared_ptr<const std::string>& text) {
  for (const Range& range : task->written()) {
    if (range.bytes == 0) continue;
    const auto begin = reinterpret_cast<uintptr_t>(range.address);
    unmark(begin, begin + range.bytes);
    marks_[begin] = {begin + range.bytes, text};
  }
  any_marks_.store(!marks_.empty(), std::memory_order_release);
}

void Faults::unmark(uintptr_t begin, uintptr_t end) {
  if (begin >= end) return;
  auto it = marks_.upper_bound(begin);
  if (it != marks_.begin() && std::prev(it)->second.end > begin) --it;
  while (it != marks_.end() && it->first < end) {
    const uintptr_t old_begin = it->first;
    const Mark old = it->second;
    it = marks_.erase(it);
    if (old_begin < begin) marks_[old_begin] = {begin, old.text};
    if (old.end > end) marks_[end] = {old.end, old.text};
  }
  any_marks_.store(!marks_.empty(), std::memory_order_release);
}

std::shared_ptr<const std::string> Faults::find(const void* address, size_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  auto it = marks_.upper_bound(begin);
  if (it != marks_.begin() && std::prev(it)->second.end > begin) --it;
  return it != marks_.end() && it->first < begin + bytes && begin < it->second.end && bytes > 0 ? it->second.text : nullptr;
}

}  // namespace tandem::runtime::virtual_gpu
