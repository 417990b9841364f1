// Neighbouring pointwise calls as one step: tile by tile, so that what is between them stays in the first caches.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "compile/flow.h"
#include "compile/step.h"

namespace tandem::compiling {

/// The nodes from `first` on, below `end`, that can be one step: contiguous pointwise calls of one number of elements that meet in memory
/// element by element only. `first` alone where its neighbour does not fit. Nodes of `elsewhere` are passed over, those of `stops` end it.
[[nodiscard]] std::vector<int> chain_from(const Flow& flow, int first, int end, const std::vector<bool>& elsewhere,
                                          const std::vector<bool>& stops);

/// The calls of a chain, one after the other for each tile; threads share the tiles.
class ChainStep final : public Step {
 public:
  /// `needed`: the blocks that are read after the plan's steps, or given away. Other blocks that the chain alone uses need no memory but a
  /// tile of scratch for each part of the work.
  ChainStep(const Flow& flow, const std::vector<int>& nodes, const std::vector<bool>& needed, int threads);

  void run(const Queue& queue) override;
  [[nodiscard]] size_t scratch_bytes() const { return static_cast<size_t>(parts_) * part_bytes_; }
  /// What of the nodes' uses lies in memory.
  [[nodiscard]] const std::vector<const Use*>& uses() const { return uses_; }

  void* scratch = nullptr;

 private:
  using PointwiseCall = CallOf<&kernels::Table::pointwise>;
  /// A call, and where in the scratch its operands lie; -1: in memory.
  struct Link {
    const PointwiseCall* call;
    int64_t out = -1;
    std::array<int64_t, kernels::kMaxOperands> in{-1, -1, -1, -1};
  };

  void run_tile(const Queue& queue, int64_t begin, int64_t n, char* own) const;

  std::vector<Link> links_;
  std::vector<const Use*> uses_;
  int64_t numel_;
  int64_t parts_, part_;  // how many, and of how many elements
  size_t part_bytes_ = 0;
};

}  // namespace tandem::compiling
