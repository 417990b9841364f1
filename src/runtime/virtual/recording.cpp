#include "runtime/virtual/recording.h"

#include <algorithm>

#include "runtime/virtual/stream.h"

namespace tandem::runtime::virtual_gpu {
namespace {

TaskHeader* header(const std::unique_ptr<std::byte[]>& task) { return std::launder(reinterpret_cast<TaskHeader*>(task.get())); }

}  // namespace

Recording::~Recording() {
  for (const auto& task : tasks_) header(task)->act(header(task), nullptr, true);
}

void Recording::add(const Stream& stream, std::unique_ptr<std::byte[]> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  ++count_[&stream];
}

Recording::Seen Recording::mark(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  Seen mark = seen_[&stream];
  mark[&stream] = count_[&stream];
  return mark;
}

void Recording::wait(Stream& stream, const Seen& mark) {
  const std::lock_guard lock(mutex_);
  if (!seen_.contains(&stream)) joined_.push_back(&stream);
  Seen& seen = seen_[&stream];
  for (const auto& [other, tasks] : mark) seen[other] = std::max(seen[other], tasks);
}

std::vector<Stream*> Recording::joined() {
  const std::lock_guard lock(mutex_);
  return joined_;
}

bool Recording::all_waited_for() {
  const std::lock_guard lock(mutex_);
  Seen& seen = seen_[&origin_];
  return std::all_of(joined_.begin(), joined_.end(), [&](const Stream* stream) { return seen[stream] >= count_[stream]; });
}

void Recording::run(Stream& stream, const Replay* replay) const {
  for (const auto& task : tasks_) stream.replay(header(task), replay);
}

}  // namespace tandem::runtime::virtual_gpu
