// Gradients that are averaged straight into the range of the rank that steps it, and kept nowhere else. For the library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/api/distributed.h"
#include "comm/work.h"
#include "parallel/backward_watch.h"
#include "parallel/flat_ranges.h"

namespace tandem::parallel::detail {

/// The parameters of `ranges`, which must outlive this, are made alike by rank 0's values. Their gradients are divided from now on: `.grad`
/// of each is a vector of those elements of the average that this rank steps, and what is done to it is done to what will be stepped. It is
/// empty where all of them are other ranks', and there is none where no rank had a gradient since it was last forgotten.
///
/// Each rank's range is cut into buckets; a leaf's gradient goes into those that it overlaps, and a full bucket is reduced to the rank of
/// its range while backward goes on.
class GradientRanges {
 public:
  GradientRanges(const char* op, const FlatRanges& ranges, const distributed::ProcessGroup& group, Site site);
  ~GradientRanges();
  GradientRanges(const GradientRanges&) = delete;
  GradientRanges& operator=(const GradientRanges&) = delete;

  /// Error where a parameter requires a gradient that did not when this was made: nobody averages it.
  void check_trained() const;
  /// Gives memory up that no parameter's `.grad` lies in any more.
  void give_up_memory();

 private:
  class Taker;
  struct Bucket {
    size_t flat = 0;
    int64_t begin = 0, count = 0;  // elements of the flat memory
    int owner = 0;                 // rank in the group
    std::vector<size_t> members;   // parameters that lie in it, in part at least
    size_t missing = 0;            // of them, those that have not come in this backward
    Tensor values;                 // (count), then a flag for each member; while gradients come and are reduced
    comm::Work work;
  };
  /// What is known of a parameter.
  struct Own {
    bool trained = false;   // its gradients come here
    Tensor part;            // of `kept_`: what `.grad` is where it is ours
    bool came = false;      // in this backward
    bool anew = false;      // its `.grad` was forgotten before this backward
    bool anywhere = false;  // some rank had a gradient in this backward
  };
  void make_buckets();
  void take(size_t parameter, const Tensor& gradient);
  void begin();
  void reduce_full();
  void reduce(Bucket& bucket);
  void settle(Bucket& bucket);
  void finish();
  [[nodiscard]] bool is_ours(size_t parameter) const;
  [[nodiscard]] Tensor values_for(const Bucket& bucket) const;

  const char* op_;
  const FlatRanges& ranges_;
  distributed::ProcessGroup group_;
  std::string label_;  // of the collectives
  std::vector<Own> own_;
  std::vector<Bucket> buckets_;
  std::vector<Tensor> kept_;  // of each flat memory, this rank's range: the sum of backwards
  size_t next_ = 0;           // the bucket to be reduced next
  BackwardWatch backward_;
  Site site_;
};

}  // namespace tandem::parallel::detail
