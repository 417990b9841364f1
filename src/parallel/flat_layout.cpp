#include "parallel/flat_layout.h"

#include <algorithm>

namespace tandem::parallel::detail {
namespace {

int64_t aligned(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

}  // namespace

FlatLayout::FlatLayout(std::span<const int64_t> numels, int64_t alignment, int64_t share_alignment, int ranks)
    : numels_(numels.begin(), numels.end()), ranks_(ranks) {
  int64_t end = 0;
  for (const int64_t numel : numels_) {
    offsets_.push_back(aligned(end, alignment));
    end = offsets_.back() + numel;
  }
  share_ = aligned((end + ranks - 1) / ranks, share_alignment);
}

FlatLayout::Part FlatLayout::part(size_t tensor, int rank) const {
  const int64_t first = share_ * rank, offset = offsets_[tensor], numel = numels_[tensor];
  const int64_t begin = std::clamp<int64_t>(first - offset, 0, numel), end = std::clamp<int64_t>(first + share_ - offset, 0, numel);
  return {begin, std::clamp<int64_t>(offset + begin - first, 0, share_), end - begin};
}

}  // namespace tandem::parallel::detail
