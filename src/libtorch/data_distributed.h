// Samplers of which each process of several has one, and gets its own part of the examples.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/error.h"
#include "libtorch/data_samplers.h"

namespace torch::data::samplers {

/// What they share: examples are split into `num_replicas` parts of the same size, of which this is number `rank`.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  /// With allow_duplicates some examples are in two parts where they cannot be split evenly; without it some are in none.
  DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {
    if (rank >= num_replicas) tandem::fail("[DistributedSampler] rank ", rank, " is not below num_replicas ", num_replicas);
  }

  /// The order of a random one is another in each epoch, and the same in all processes.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  [[nodiscard]] size_t epoch() const { return epoch_; }

 protected:
  [[nodiscard]] size_t local_sample_count() const {
    return allow_duplicates_ ? (size_ + num_replicas_ - 1) / num_replicas_ : size_ / num_replicas_;
  }

  size_t size_, num_replicas_, rank_, epoch_ = 0;
  bool allow_duplicates_;
};

namespace detail {

/// A part of an order: the order's numbers from begin_ on, up to end_.
class PartSampler : public DistributedSampler<> {
 public:
  using DistributedSampler::DistributedSampler;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  /// Where in the order of all parts it is.
  [[nodiscard]] size_t index() const noexcept { return at_; }

 protected:
  [[nodiscard]] virtual size_t at(size_t place) const = 0;
  void begin();

  size_t at_ = 0, end_ = 0;
};

}  // namespace detail

/// A part of all examples in an order that the epoch decides.
class DistributedRandomSampler : public detail::PartSampler {
 public:
  DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  [[nodiscard]] size_t at(size_t place) const override;
  void shuffle();

  std::vector<size_t> order_;
};

/// Neighbouring examples.
class DistributedSequentialSampler : public detail::PartSampler {
 public:
  DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  [[nodiscard]] size_t at(size_t place) const override;
};

}  // namespace torch::data::samplers
