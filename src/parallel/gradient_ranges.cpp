#include "parallel/gradient_ranges.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/wait_scope.h"
#include "ops/creation.h"
#include "parallel/agreement.h"
#include "parallel/divided_among.h"
#include "parallel/scaled_copy.h"
#include "tensor/part.h"

namespace tandem::parallel::detail {
namespace {

constexpr int64_t kBucketBytes = int64_t{25} << 20;

}  // namespace

/// Where the engine brings a parameter's gradient.
class GradientRanges::Taker final : public DividedAmong {
 public:
  Taker(GradientRanges& ranges, size_t parameter) : DividedAmong(ranges.group_), ranges_(ranges), parameter_(parameter) {}
  bool take(const Tensor& /*leaf*/, const Tensor& gradient) override {
    ranges_.take(parameter_, gradient);
    return true;
  }

 private:
  GradientRanges& ranges_;
  size_t parameter_;
};

GradientRanges::GradientRanges(const char* op, const FlatRanges& ranges, const distributed::ProcessGroup& group, Site site)
    : op_(op),
      ranges_(ranges),
      group_(group),
      label_(str(op, ' ', group.next_number(), ": bucket ")),
      own_(ranges.parameters().size()),
      kept_(ranges.flat_count()),
      site_(site) {
  for (size_t i = 0; i < own_.size(); ++i) {
    const Tensor& parameter = ranges.parameters()[i];
    own_[i].trained = parameter.requires_grad();
    if (!own_[i].trained) continue;
    if (autograd::divided_gradient(parameter))
      fail("[", op, "] the gradient of parameter ", i,
           " is divided already, by another optimizer with shard_gradients or in shards itself");
  }
  NamedTensors all;
  for (size_t i = 0; i < own_.size(); ++i) all.emplace_back(std::to_string(i), ranges.parameters()[i]);
  check_alike(op, "parameter", all, group_, site);
  broadcast_values(ranges.parameters(), 0, group_, site);
  make_buckets();
  for (size_t i = 0; i < own_.size(); ++i)
    if (own_[i].trained) autograd::set_divided_gradient(ranges.parameters()[i], std::make_shared<Taker>(*this, i));
}

GradientRanges::~GradientRanges() {
  for (size_t i = 0; i < own_.size(); ++i)
    if (own_[i].trained) autograd::set_divided_gradient(ranges_.parameters()[i], nullptr);
}

/// From the last parameter to the first, as backward goes.
void GradientRanges::make_buckets() {
  for (size_t flat = ranges_.flat_count(); flat-- > 0;) {
    const int64_t share = ranges_.share(flat), most = kBucketBytes / static_cast<int64_t>(size_of(ranges_.dtype(flat)));
    for (int owner = group_.size(); owner-- > 0;) {
      for (int64_t end = share; end > 0;) {
        const int64_t begin = std::max<int64_t>(0, end - most);
        Bucket bucket;
        bucket.flat = flat;
        bucket.begin = owner * share + begin;
        bucket.count = end - begin;
        bucket.owner = owner;
        for (size_t i = 0; i < own_.size(); ++i) {
          const FlatRanges::Place& at = ranges_.place(i);
          const int64_t numel = ranges_.parameters()[i].numel();
          if (own_[i].trained && at.flat == flat && at.offset < bucket.begin + bucket.count && at.offset + numel > bucket.begin)
            bucket.members.push_back(i);
        }
        end = begin;
        if (!bucket.members.empty()) buckets_.push_back(std::move(bucket));
      }
    }
  }
}

void GradientRanges::check_trained() const {
  for (size_t i = 0; i < own_.size(); ++i)
    if (!own_[i].trained && ranges_.parameters()[i].requires_grad())
      fail("[", op_, "] parameter ", i,
           " requires a gradient now, but did not when the optimizer was made, so that nobody averages it: make the optimizer anew");
}

bool GradientRanges::is_ours(size_t parameter) const {
  const Tensor& grad = ranges_.parameters()[parameter].grad();
  return grad.defined() && own_[parameter].part.defined() && grad.is_same(own_[parameter].part);
}

void GradientRanges::give_up_memory() {
  for (size_t flat = 0; flat < kept_.size(); ++flat) {
    bool used = false;
    for (size_t i = 0; i < own_.size(); ++i) used |= ranges_.place(i).flat == flat && is_ours(i);
    if (used) continue;
    kept_[flat] = Tensor();
    for (size_t i = 0; i < own_.size(); ++i)
      if (ranges_.place(i).flat == flat) own_[i].part = Tensor();
  }
}

Tensor GradientRanges::values_for(const Bucket& bucket) const {
  return zeros({bucket.count + static_cast<int64_t>(bucket.members.size())},
               {.dtype = ranges_.dtype(bucket.flat), .device = ranges_.parameters()[0].device()}, site_);
}

/// The first gradient of a backward has come. What was done to `.grad` since the last one counts.
void GradientRanges::begin() {
  next_ = 0;
  for (Bucket& bucket : buckets_) {  // of a backward that ended by an error
    std::exchange(bucket.work, {}).wait(site_);
    bucket.values = Tensor();
    bucket.missing = bucket.members.size();
  }
  for (size_t i = 0; i < own_.size(); ++i) {
    Own& own = own_[i];
    if (!own.trained) continue;
    const size_t flat = ranges_.place(i).flat;
    Tensor& kept = kept_[flat];
    if (!kept.defined())
      kept = zeros({ranges_.share(flat)}, {.dtype = ranges_.dtype(flat), .device = ranges_.parameters()[0].device()}, site_);
    if (!own.part.defined()) {
      const auto [in, offset, begin, count] = ranges_.place(i);
      own.part = tandem::detail::part_of(kept, count > 0 ? offset + begin - ranges_.share(in) * group_.rank() : 0, {count});
    }
    own.came = own.anywhere = false;
    Tensor& grad = ranges_.parameters()[i].grad();
    own.anew = !grad.defined();
    if (own.anew || is_ours(i)) continue;
    own.part.copy_(ranges_.own_gradient(op_, i, site_), false, site_);  // put there by the user
    grad = own.part;
  }
}

void GradientRanges::take(size_t parameter, const Tensor& gradient) {
  const NoGradGuard no_grad;
  if (gradient.requires_grad())
    fail("[", op_, "] the gradient of parameter ", parameter,
         " has a history: create_graph and gradients that are averaged do not go together. Use grad(), which averages nothing");
  if (backward_.meets_new([this] { finish(); })) begin();
  Own& own = own_[parameter];
  if (std::exchange(own.came, true))
    fail("[", op_, "] parameter ", parameter,
         " got a gradient twice in one backward, which cannot be averaged: call backward once, on the sum of the losses");
  const Tensor values = gradient.detach().contiguous(site_).view({-1}, site_);
  const size_t flat = ranges_.place(parameter).flat;
  const int64_t offset = ranges_.place(parameter).offset;
  for (Bucket& bucket : buckets_) {
    if (bucket.flat != flat) continue;
    const int64_t first = std::max(offset, bucket.begin), last = std::min(offset + values.numel(), bucket.begin + bucket.count);
    if (first >= last) continue;
    if (!bucket.values.defined()) bucket.values = values_for(bucket);
    copy_scaled(bucket.values.narrow(0, first - bucket.begin, last - first, site_), values.narrow(0, first - offset, last - first, site_),
                1.0 / group_.size(), site_);
    --bucket.missing;
  }
  reduce_full();
}

/// Strictly in the order of their numbers: the order in which gradients become ready may differ between ranks.
void GradientRanges::reduce_full() {
  while (next_ < buckets_.size() && buckets_[next_].missing == 0) reduce(buckets_[next_++]);
}

void GradientRanges::reduce(Bucket& bucket) {
  if (next_ > 1) settle(buckets_[next_ - 2]);  // one is on its way while the next one fills
  if (!bucket.values.defined()) bucket.values = values_for(bucket);
  const Tensor flags = bucket.values.narrow(0, bucket.count, static_cast<int64_t>(bucket.members.size()), site_);
  std::vector<double> came;
  for (const size_t i : bucket.members) came.push_back(own_[i].came ? 1 : 0);
  if (std::find(came.begin(), came.end(), 0) == came.end()) flags.fill_(1, site_);
  else flags.copy_(tensor(came, flags.dtype()), false, site_);
  const int owner = group_.ranks()[static_cast<size_t>(bucket.owner)];
  const std::string label = str(label_, &bucket - buckets_.data());
  bucket.work = distributed::reduce(bucket.values, owner, distributed::ReduceOp::SUM, {group_, true, label}, site_);
}

void GradientRanges::settle(Bucket& bucket) {
  if (!bucket.values.defined()) return;
  std::exchange(bucket.work, {}).wait(site_);
  const Tensor sums = std::exchange(bucket.values, Tensor());
  if (bucket.owner != group_.rank()) return;
  const auto own_part = [&](int64_t from, int64_t to) {  // elements of the flat memory
    return std::pair(kept_[bucket.flat].narrow(0, from - group_.rank() * ranges_.share(bucket.flat), to - from, site_),
                     sums.narrow(0, from - bucket.begin, to - from, site_));
  };
  const bool all_anew = std::all_of(bucket.members.begin(), bucket.members.end(), [&](size_t i) { return own_[i].anew; });
  for (const size_t i : bucket.members) {
    if (all_anew || !own_[i].anew) continue;
    const int64_t offset = ranges_.place(i).offset, numel = ranges_.parameters()[i].numel();
    own_part(std::max(offset, bucket.begin), std::min(offset + numel, bucket.begin + bucket.count)).first.zero_(site_);
  }
  const auto [kept, sum] = own_part(bucket.begin, bucket.begin + bucket.count);
  if (all_anew) kept.copy_(sum, false, site_);
  else kept.add_(sum, 1, site_);

  // A gradient that did not come here may have come to others.
  if (std::all_of(bucket.members.begin(), bucket.members.end(), [&](size_t i) { return own_[i].came; })) return;
  const tandem::detail::OwnWork search("ZeroRedundancyOptimizer's search for parameters without a gradient", site_);
  const Tensor flags = sums.narrow(0, bucket.count, static_cast<int64_t>(bucket.members.size()), site_).cpu(site_).to(kFloat64);
  for (size_t slot = 0; slot < bucket.members.size(); ++slot) own_[bucket.members[slot]].anywhere |= flags.data_ptr<double>()[slot] > 0;
}

void GradientRanges::finish() {
  const NoGradGuard no_grad;
  while (next_ < buckets_.size()) reduce(buckets_[next_++]);  // those of parameters that got no gradient
  for (Bucket& bucket : buckets_) settle(bucket);
  for (size_t i = 0; i < own_.size(); ++i)
    if (own_[i].came || own_[i].anywhere) ranges_.parameters()[i].grad() = own_[i].part;
}

}  // namespace tandem::parallel::detail
