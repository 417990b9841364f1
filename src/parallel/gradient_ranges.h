// Gradients that are averaged straight into the range of the rank that steps it, and kept nowhere else. For the library.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/distributed.h"
#include "comm/work.h"
#include "parallel/flat_ranges.h"

namespace tandem::parallel::detail {

/// The gradients of the parameters of `ranges`, which must outlive this. Each rank's range is cut into buckets; a leaf's accumulation moves
/// its gradient into those that it overlaps, and a full bucket is reduced to the rank of its range while backward goes on.
class GradientRanges {
 public:
  GradientRanges(const FlatRanges& ranges, const distributed::ProcessGroup& group, Site site);
  ~GradientRanges();
  GradientRanges(const GradientRanges&) = delete;
  GradientRanges& operator=(const GradientRanges&) = delete;

  /// Each piece's gradient is its part of what was reduced to this rank; none before the first backward.
  void lend() const;
  /// Forgets them.
  void clear();

 private:
  struct Bucket {
    size_t flat = 0;
    int64_t begin = 0, count = 0;  // elements of the flat memory
    int64_t expected = 0;          // of them, those that belong to parameters
    int owner = 0;                 // rank in the group
    int64_t missing = 0;           // elements that have not come in this backward
    Tensor values;                 // (count) while gradients come and are reduced
    Tensor kept;                   // (count), at the owner: the sum of all backwards since `clear`
    comm::Work work;
  };
  void arrived(size_t parameter);
  void reduce_full();
  void reduce(Bucket& bucket);
  void settle(Bucket& bucket);
  void finish();

  const FlatRanges& ranges_;
  distributed::ProcessGroup group_;
  std::vector<Bucket> buckets_;
  std::vector<int64_t> hooks_;
  size_t next_ = 0;       // the bucket to be reduced next
  bool running_ = false;  // a backward has begun
  Site site_;
};

}  // namespace tandem::parallel::detail
