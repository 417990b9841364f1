#include "comm/local/backend.h"

#include <algorithm>

#include "runtime/driver.h"

namespace tandem::comm {

LocalBackend::LocalBackend(std::shared_ptr<Team> team, int rank)
    : team_(std::move(team)), segment_(team_->segment()), rank_(rank), boxes_(static_cast<size_t>(segment_.size())) {
  if (!segment_.one_process()) heap_ = std::make_shared<SharedHeap>(segment_.heap(rank), kHeap, segment_.keeper());
}

bool LocalBackend::takes(Device device) const { return device.is_cpu() || runtime::devices_are_virtual(); }

std::shared_ptr<void> LocalBackend::shared_memory(size_t bytes) { return heap_ ? heap_->allocate(bytes) : nullptr; }

std::unique_ptr<Backend> LocalBackend::sub_group(const Context& context, std::span<const int> ranks) {
  run(context);  // the ranks are the call's sizes, and so compared
  const std::shared_ptr<Team> team = team_->sub_team(context, rank_, ranks);
  if (!team) return nullptr;
  const auto own = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin());
  return std::make_unique<LocalBackend>(team, own);
}

}  // namespace tandem::comm
