// Where the elements of several tensors lie in flat memory, and which of them are a rank's. For the library.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tandem::parallel::detail {

/// Tensors one after another, cut into ranges of one length, one for each rank.
class FlatLayout {
 public:
  /// Each tensor begins at a multiple of `alignment` elements, and a range has a multiple of `share_alignment`.
  FlatLayout(std::span<const int64_t> numels, int64_t alignment, int64_t share_alignment, int ranks);

  [[nodiscard]] int ranks() const { return ranks_; }
  /// Elements of a range.
  [[nodiscard]] int64_t share() const { return share_; }
  /// Elements of all ranges, those between the tensors among them.
  [[nodiscard]] int64_t length() const { return share_ * ranks_; }
  [[nodiscard]] size_t size() const { return offsets_.size(); }
  /// Where a tensor begins.
  [[nodiscard]] int64_t offset(size_t tensor) const { return offsets_[tensor]; }
  [[nodiscard]] int64_t numel(size_t tensor) const { return numels_[tensor]; }

  /// What a rank has of a tensor: its elements from `begin` on, which lie in the rank's range from `place` on.
  struct Part {
    int64_t begin = 0, place = 0, count = 0;
  };
  /// With a count of 0 where that is nothing.
  [[nodiscard]] Part part(size_t tensor, int rank) const;

 private:
  std::vector<int64_t> numels_, offsets_;
  int64_t share_ = 0;
  int ranks_;
};

}  // namespace tandem::parallel::detail
