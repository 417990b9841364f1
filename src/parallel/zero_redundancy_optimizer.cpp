#include "parallel/zero_redundancy_optimizer.h"

#include "parallel/optimizer_state.h"

namespace tandem::optim::detail {
namespace {

using parallel::detail::FlatRanges;
using parallel::detail::StateLayout;

/// Each piece is a leaf of its own.
StateLayout layout_of(const std::deque<FlatRanges>& ranges) {
  StateLayout layout;
  for (const FlatRanges& range : ranges) {
    const size_t before = layout.parameters.size();
    for (const parallel::detail::Piece& piece : range.pieces()) {
      if (piece.count > 0) layout.parts.push_back({layout.leaves.size(), 0, before + piece.parameter, piece.begin, piece.count});
      layout.leaves.push_back({piece.count});
    }
    layout.parameters.insert(layout.parameters.end(), range.parameters().begin(), range.parameters().end());
    layout.group_sizes.push_back(range.parameters().size());
    layout.leaves_groups.push_back(range.pieces().size());
  }
  return layout;
}

}  // namespace

StateDict whole_state(const StateDict& divided, const std::deque<FlatRanges>& ranges, const distributed::ProcessGroup& group, Site site) {
  return parallel::detail::whole_state(divided, layout_of(ranges), group, site);
}

StateDict divided_state(const StateDict& whole, const std::deque<FlatRanges>& ranges) {
  return parallel::detail::divided_state("ZeroRedundancyOptimizer.load_state_dict", whole, layout_of(ranges));
}

int64_t state_bytes(const StateDict& state) {
  int64_t bytes = 0;
  for (const auto& [key, value] : state)
    if (key.starts_with("state.") && value.dim() > 0) bytes += static_cast<int64_t>(value.nbytes());
  return bytes;
}

}  // namespace tandem::optim::detail
