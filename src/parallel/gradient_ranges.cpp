#include "parallel/gradient_ranges.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "parallel/scaled_copy.h"

namespace tandem::parallel::detail {
namespace {

constexpr int64_t kBucketBytes = int64_t{25} << 20;

}  // namespace

GradientRanges::GradientRanges(const FlatRanges& ranges, const distributed::ProcessGroup& group, Site site)
    : ranges_(ranges), group_(group), site_(site) {
  // From the last parameter to the first, as backward goes.
  for (size_t flat = ranges.flat_count(); flat-- > 0;) {
    for (int owner = group_.size(); owner-- > 0;) {
      const int64_t share = ranges.share(flat);
      for (int64_t end = share; end > 0;) {
        const int64_t begin = std::max<int64_t>(0, end - kBucketBytes / static_cast<int64_t>(size_of(ranges.dtype(flat))));
        Bucket bucket;
        bucket.flat = flat;
        bucket.begin = owner * share + begin;
        bucket.count = end - begin;
        bucket.owner = owner;
        for (size_t i = 0; i < ranges.parameters().size(); ++i) {
          if (ranges.place(i).flat != flat) continue;
          const int64_t first = ranges.place(i).offset, last = first + ranges.parameters()[i].numel();
          bucket.expected += std::max<int64_t>(0, std::min(last, bucket.begin + bucket.count) - std::max(first, bucket.begin));
        }
        end = begin;
        if (bucket.expected > 0) buckets_.push_back(std::move(bucket));
      }
    }
  }
  for (size_t i = 0; i < ranges.parameters().size(); ++i)
    hooks_.push_back(ranges.parameters()[i].register_post_accumulate_grad_hook([this, i](const Tensor&) { arrived(i); }));
}

GradientRanges::~GradientRanges() {
  for (size_t i = 0; i < hooks_.size(); ++i) ranges_.parameters()[i].remove_hook(hooks_[i]);
}

void GradientRanges::arrived(size_t parameter) {
  const NoGradGuard no_grad;
  if (!running_) {
    running_ = true;
    next_ = 0;
    for (Bucket& bucket : buckets_) bucket.missing = bucket.expected;
    autograd::queue_callback([this] { finish(); });
  }
  const Tensor& leaf = ranges_.parameters()[parameter];
  const Tensor gradient = std::exchange(leaf.grad(), Tensor()).detach().contiguous(site_).view({-1}, site_);
  const auto [flat, offset] = ranges_.place(parameter);
  for (Bucket& bucket : buckets_) {
    if (bucket.flat != flat) continue;
    const int64_t first = std::max(offset, bucket.begin), last = std::min(offset + gradient.numel(), bucket.begin + bucket.count);
    if (first >= last) continue;
    if (!bucket.values.defined()) bucket.values = zeros({bucket.count}, {.dtype = gradient.dtype(), .device = gradient.device()}, site_);
    copy_scaled(bucket.values.narrow(0, first - bucket.begin, last - first, site_), gradient.narrow(0, first - offset, last - first, site_),
                1.0 / group_.size(), site_);
    bucket.missing -= last - first;
    if (bucket.missing < 0)
      fail("[ZeroRedundancyOptimizer] parameter ", parameter,
           " got a gradient twice in one backward, which cannot be averaged: call backward once, on the sum of the losses");
  }
  reduce_full();
}

/// Strictly in the order of their numbers: the order in which gradients become ready may differ between ranks.
void GradientRanges::reduce_full() {
  while (next_ < buckets_.size() && buckets_[next_].missing == 0) reduce(buckets_[next_++]);
}

void GradientRanges::reduce(Bucket& bucket) {
  if (next_ > 1) settle(buckets_[next_ - 2]);  // one is on its way while the next one fills
  const int owner = group_.ranks()[static_cast<size_t>(bucket.owner)];
  bucket.work = distributed::reduce(bucket.values, owner, distributed::ReduceOp::SUM, {.group = group_, .async_op = true}, site_);
}

void GradientRanges::settle(Bucket& bucket) {
  if (!bucket.values.defined()) return;
  std::exchange(bucket.work, {}).wait(site_);
  const Tensor sum = std::exchange(bucket.values, Tensor());
  if (bucket.owner != group_.rank()) return;
  if (bucket.kept.defined()) bucket.kept.add_(sum, 1, site_);
  else bucket.kept = sum;
}

void GradientRanges::finish() {
  const NoGradGuard no_grad;
  running_ = false;
  while (next_ < buckets_.size()) {  // of parameters that got no gradient
    Bucket& bucket = buckets_[next_++];
    if (!bucket.values.defined())
      bucket.values = zeros({bucket.count}, {.dtype = ranges_.dtype(bucket.flat), .device = ranges_.parameters()[0].device()}, site_);
    reduce(bucket);
  }
  for (Bucket& bucket : buckets_) settle(bucket);
}

void GradientRanges::lend() const {
  const NoGradGuard no_grad;
  for (const Piece& piece : ranges_.pieces()) {
    if (piece.count == 0) continue;
    const auto [flat, offset] = ranges_.place(piece.parameter);
    const int64_t first = offset + piece.begin, last = first + piece.count;
    Tensor gradient;
    for (const Bucket& bucket : buckets_) {
      if (bucket.flat != flat || !bucket.kept.defined()) continue;
      const int64_t from = std::max(first, bucket.begin), to = std::min(last, bucket.begin + bucket.count);
      if (from >= to) continue;
      const Tensor part = bucket.kept.narrow(0, from - bucket.begin, to - from, site_);
      if (to - from == piece.count) {
        gradient = part;
        break;
      }
      if (!gradient.defined()) gradient = zeros({piece.count}, {.dtype = part.dtype(), .device = part.device()}, site_);
      gradient.narrow(0, from - first, to - from, site_).copy_(part, false, site_);
    }
    piece.values.grad() = gradient;
  }
}

void GradientRanges::clear() {
  for (Bucket& bucket : buckets_) bucket.kept = Tensor();
}

}  // namespace tandem::parallel::detail
