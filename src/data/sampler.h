// Samplers: which samples an epoch has, and in which order. What they give follows from their seed and the epoch alone.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/site.h"
#include "data/shared_value.h"

namespace tandem::data {

/// 0 … count - 1 in an order made from the seed and the epoch alone; random numbers drawn elsewhere do not change it.
[[nodiscard]] std::vector<int64_t> shuffled_indices(int64_t count, uint64_t seed, uint64_t epoch);

/// The indices of an epoch's samples. As torch.utils.data.Sampler.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// How many indices an epoch has.
  [[nodiscard]] virtual int64_t size() const = 0;
  [[nodiscard]] virtual std::vector<int64_t> indices(uint64_t epoch) const = 0;
};
/// Any sampler as a value.
using AnySampler = SharedValue<Sampler>;

/// 0 … count - 1. As torch.utils.data.SequentialSampler.
class SequentialSampler : public Sampler {
 public:
  explicit SequentialSampler(int64_t count);
  [[nodiscard]] int64_t size() const override { return count_; }
  [[nodiscard]] std::vector<int64_t> indices(uint64_t epoch) const override;

 private:
  int64_t count_;
};

struct RandomSamplerOptions {
  bool replacement = false;                 // draw each index anew
  std::optional<int64_t> num_samples = {};  // indices an epoch; as many as there are samples unless given
  uint64_t seed = 0;
};
/// 0 … count - 1 in random order. Without replacement and with more indices than samples, one order follows another. As
/// torch.utils.data.RandomSampler.
class RandomSampler : public Sampler {
 public:
  explicit RandomSampler(int64_t count, RandomSamplerOptions options = {}, Site = Site::here());
  [[nodiscard]] int64_t size() const override { return options_.num_samples.value_or(count_); }
  [[nodiscard]] std::vector<int64_t> indices(uint64_t epoch) const override;

 private:
  int64_t count_;
  RandomSamplerOptions options_;
};

/// The given indices in random order. As torch.utils.data.SubsetRandomSampler.
class SubsetRandomSampler : public Sampler {
 public:
  explicit SubsetRandomSampler(std::vector<int64_t> indices, uint64_t seed = 0);
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  [[nodiscard]] std::vector<int64_t> indices(uint64_t epoch) const override;

 private:
  std::vector<int64_t> indices_;
  uint64_t seed_;
};

struct WeightedRandomSamplerOptions {
  bool replacement = true;
  uint64_t seed = 0;
};
/// 0 … weights.size() - 1, each drawn with a probability proportional to its weight. As torch.utils.data.WeightedRandomSampler. Error for
/// weights that are negative, not finite or all zero; without replacement, for more samples than weights above zero.
class WeightedRandomSampler : public Sampler {
 public:
  WeightedRandomSampler(std::vector<double> weights, int64_t num_samples, WeightedRandomSamplerOptions options = {}, Site = Site::here());
  [[nodiscard]] int64_t size() const override { return num_samples_; }
  [[nodiscard]] std::vector<int64_t> indices(uint64_t epoch) const override;

 private:
  std::vector<double> weights_;
  int64_t num_samples_;
  WeightedRandomSamplerOptions options_;
};

struct DistributedSamplerOptions {
  bool shuffle = true;
  uint64_t seed = 0;       // the same in all processes
  bool drop_last = false;  // leave samples out rather than repeat some, so that all have the same number
};
/// Rank `rank`'s share of 0 … count - 1, which `num_replicas` ranks divide: of the epoch's order every num_replicas-th index, beginning
/// with `rank`. Shares are equally long: past its end the order begins again, or its last indices are left out (drop_last). As
/// torch.utils.data.DistributedSampler; a loader's epoch stands for set_epoch. Error where there is no such rank.
class DistributedSampler : public Sampler {
 public:
  DistributedSampler(int64_t count, int num_replicas, int rank, DistributedSamplerOptions options = {}, Site = Site::here());
  [[nodiscard]] int64_t size() const override { return share_; }
  [[nodiscard]] std::vector<int64_t> indices(uint64_t epoch) const override;

 private:
  int64_t count_;
  int num_replicas_, rank_;
  DistributedSamplerOptions options_;
  int64_t share_;
};

/// The indices of an epoch's batches.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// How many batches an epoch has.
  [[nodiscard]] virtual int64_t size() const = 0;
  [[nodiscard]] virtual std::vector<std::vector<int64_t>> batches(uint64_t epoch) const = 0;
};
/// Any source of batches as a value.
using AnyBatchSampler = SharedValue<BatchSource>;

/// A sampler's indices, `batch_size` at a time; with drop_last without a last batch that is not full. As torch.utils.data.BatchSampler.
/// Error where batch_size is not positive.
class BatchSampler : public BatchSource {
 public:
  BatchSampler(AnySampler sampler, int64_t batch_size, bool drop_last = false, Site = Site::here());
  [[nodiscard]] int64_t size() const override;
  [[nodiscard]] std::vector<std::vector<int64_t>> batches(uint64_t epoch) const override;

 private:
  AnySampler sampler_;
  int64_t batch_size_;
  bool drop_last_;
};

/// Rank `rank`'s part of each batch, which `num_replicas` ranks divide: parts whose sizes differ by one sample at most. Where there are
/// fewer samples than ranks, a rank without any gets the batch's first one, which its weight makes count as nothing. Error where there is
/// no such rank.
class DistributedBatchSampler : public BatchSource {
 public:
  DistributedBatchSampler(AnyBatchSampler batches, int num_replicas, int rank, Site = Site::here());
  [[nodiscard]] int64_t size() const override { return batches_->size(); }
  [[nodiscard]] std::vector<std::vector<int64_t>> batches(uint64_t epoch) const override;
  /// For each batch of an epoch the rank's part of its samples, times the number of ranks: the average over the ranks of means over their
  /// parts, each times this, is the mean over the batch.
  [[nodiscard]] std::vector<double> weights(uint64_t epoch) const;

 private:
  [[nodiscard]] std::pair<int64_t, int64_t> part(int64_t samples) const;

  AnyBatchSampler batches_;
  int num_replicas_, rank_;
};

}  // namespace tandem::data
