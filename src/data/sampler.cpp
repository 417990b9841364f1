#include "data/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "data/generator.h"

namespace tandem::data {
namespace {

std::vector<int64_t> counted(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(count, 0)));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void shuffle(std::vector<int64_t>& order, Generator& generator) {
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[generator.below(left)]);
}

void check_count(const char* op, const char* what, int64_t count) {
  if (count < 0) fail("[", op, "] ", what, " must not be negative, but is ", count);
}

void check_rank(const char* op, int num_replicas, int rank) {
  if (num_replicas < 1) fail("[", op, "] num_replicas must be positive, but is ", num_replicas);
  if (rank < 0 || rank >= num_replicas)
    fail("[", op, "] rank ", rank, " is not one of the ", num_replicas, " replicas: 0 to ", num_replicas - 1);
}

}  // namespace

std::vector<int64_t> shuffled_indices(int64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order = counted(count);
  Generator generator(seed, epoch);
  shuffle(order, generator);
  return order;
}

SequentialSampler::SequentialSampler(int64_t count) : count_(count) { check_count("SequentialSampler", "the number of samples", count); }

std::vector<int64_t> SequentialSampler::indices(uint64_t /*epoch*/) const { return counted(count_); }

RandomSampler::RandomSampler(int64_t count, RandomSamplerOptions options, Site /*site*/) : count_(count), options_(options) {
  check_count("RandomSampler", "the number of samples", count);
  check_count("RandomSampler", "num_samples", options_.num_samples.value_or(0));
  if (count == 0 && size() > 0) fail("[RandomSampler] num_samples is ", size(), ", but there are no samples to draw from");
}

std::vector<int64_t> RandomSampler::indices(uint64_t epoch) const {
  Generator generator(options_.seed, epoch);
  std::vector<int64_t> drawn;
  drawn.reserve(static_cast<size_t>(size()));
  while (static_cast<int64_t>(drawn.size()) < size()) {
    if (options_.replacement) {
      drawn.push_back(static_cast<int64_t>(generator.below(static_cast<uint64_t>(count_))));
      continue;
    }
    std::vector<int64_t> order = counted(count_);
    shuffle(order, generator);
    const size_t missing = static_cast<size_t>(size()) - drawn.size();
    drawn.insert(drawn.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(missing, order.size())));
  }
  return drawn;
}

SubsetRandomSampler::SubsetRandomSampler(std::vector<int64_t> indices, uint64_t seed) : indices_(std::move(indices)), seed_(seed) {}

std::vector<int64_t> SubsetRandomSampler::indices(uint64_t epoch) const {
  std::vector<int64_t> order = indices_;
  Generator generator(seed_, epoch);
  shuffle(order, generator);
  return order;
}

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights, int64_t num_samples, WeightedRandomSamplerOptions options,
                                             Site /*site*/)
    : weights_(std::move(weights)), num_samples_(num_samples), options_(options) {
  check_count("WeightedRandomSampler", "num_samples", num_samples);
  int64_t positive = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (!(weights_[i] >= 0) || std::isinf(weights_[i]))
      fail("[WeightedRandomSampler] weight ", i, " is ", weights_[i], ": weights must be finite and not negative");
    positive += weights_[i] > 0;
  }
  if (num_samples > 0 && positive == 0) fail("[WeightedRandomSampler] no weight is above zero, so nothing can be drawn");
  if (!options_.replacement && num_samples > positive)
    fail("[WeightedRandomSampler] num_samples is ", num_samples, ", but without replacement only the ", positive,
         " samples with weights above zero can be drawn");
}

std::vector<int64_t> WeightedRandomSampler::indices(uint64_t epoch) const {
  Generator generator(options_.seed, epoch);
  std::vector<int64_t> drawn;
  drawn.reserve(static_cast<size_t>(num_samples_));
  if (options_.replacement) {
    std::vector<double> sums(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), sums.begin());
    while (static_cast<int64_t>(drawn.size()) < num_samples_) {
      const auto found = std::upper_bound(sums.begin(), sums.end(), generator.uniform(0, sums.back()));
      if (found != sums.end()) drawn.push_back(found - sums.begin());  // rounding may reach the end
    }
    return drawn;
  }
  // Arrival times of processes with these rates: the first ones are a draw without replacement (Efraimidis and Spirakis, 2006).
  std::vector<std::pair<double, int64_t>> arrivals;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const double wait = -std::log1p(-generator.uniform());
    if (weights_[i] > 0) arrivals.emplace_back(wait / weights_[i], static_cast<int64_t>(i));
  }
  std::sort(arrivals.begin(), arrivals.end());
  for (int64_t i = 0; i < num_samples_; ++i) drawn.push_back(arrivals[static_cast<size_t>(i)].second);
  return drawn;
}

DistributedSampler::DistributedSampler(int64_t count, int num_replicas, int rank, DistributedSamplerOptions options, Site /*site*/)
    : count_(count), num_replicas_(num_replicas), rank_(rank), options_(options) {
  check_count("DistributedSampler", "the number of samples", count);
  check_rank("DistributedSampler", num_replicas, rank);
  share_ = options_.drop_last ? count / num_replicas_ : (count + num_replicas_ - 1) / num_replicas_;
}

std::vector<int64_t> DistributedSampler::indices(uint64_t epoch) const {
  const std::vector<int64_t> order = options_.shuffle ? shuffled_indices(count_, options_.seed, epoch) : counted(count_);
  std::vector<int64_t> mine;
  mine.reserve(static_cast<size_t>(share_));
  // Past the end of the order it begins again: then all shares are equally long.
  for (int64_t i = 0; i < share_; ++i) mine.push_back(order[static_cast<size_t>((i * num_replicas_ + rank_) % count_)]);
  return mine;
}

BatchSampler::BatchSampler(AnySampler sampler, int64_t batch_size, bool drop_last, Site /*site*/)
    : sampler_(std::move(sampler)), batch_size_(batch_size), drop_last_(drop_last) {
  if (batch_size_ <= 0)
    fail("[BatchSampler] batch_size must be positive, not ", batch_size_, ": give the number of samples a batch, such as 32");
}

int64_t BatchSampler::size() const {
  const int64_t samples = sampler_->size();
  return samples / batch_size_ + (!drop_last_ && samples % batch_size_ != 0 ? 1 : 0);
}

std::vector<std::vector<int64_t>> BatchSampler::batches(uint64_t epoch) const {
  const std::vector<int64_t> indices = sampler_->indices(epoch);
  std::vector<std::vector<int64_t>> batches;
  for (int64_t i = 0; i < size(); ++i) {
    const auto first = indices.begin() + i * batch_size_;
    batches.emplace_back(first, first + std::min<int64_t>(batch_size_, indices.end() - first));
  }
  return batches;
}

DistributedBatchSampler::DistributedBatchSampler(AnyBatchSampler batches, int num_replicas, int rank, Site /*site*/)
    : batches_(std::move(batches)), num_replicas_(num_replicas), rank_(rank) {
  check_rank("DistributedBatchSampler", num_replicas, rank);
}

std::pair<int64_t, int64_t> DistributedBatchSampler::part(int64_t samples) const {
  return {samples * rank_ / num_replicas_, samples * (rank_ + 1) / num_replicas_};
}

std::vector<std::vector<int64_t>> DistributedBatchSampler::batches(uint64_t epoch) const {
  std::vector<std::vector<int64_t>> batches = batches_->batches(epoch);
  for (std::vector<int64_t>& batch : batches) {
    if (batch.empty()) continue;
    const auto [first, last] = part(static_cast<int64_t>(batch.size()));
    batch = first == last ? std::vector{batch[0]} : std::vector(batch.begin() + first, batch.begin() + last);
  }
  return batches;
}

std::vector<double> DistributedBatchSampler::weights(uint64_t epoch) const {
  std::vector<double> weights;
  for (const std::vector<int64_t>& batch : batches_->batches(epoch)) {
    const auto samples = static_cast<int64_t>(batch.size());
    const auto [first, last] = part(samples);
    weights.push_back(samples ? static_cast<double>((last - first) * num_replicas_) / static_cast<double>(samples) : 0);
  }
  return weights;
}

}  // namespace tandem::data
