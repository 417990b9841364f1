// Samplers of which each process of several has one, and gets its own part of the examples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <random>
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
  std::optional<std::vector<size_t>> next(size_t batch_size) override {
    if (at_ >= end_) return std::nullopt;
    std::vector<size_t> indices(std::min(batch_size, end_ - at_));
    for (size_t& index : indices) index = at(at_++);
    return indices;
  }
  /// Where in the order of all parts it is.
  [[nodiscard]] size_t index() const noexcept { return at_; }

 protected:
  [[nodiscard]] virtual size_t at(size_t place) const = 0;
  void begin() {
    at_ = rank_ * local_sample_count();
    end_ = at_ + local_sample_count();
  }

  size_t at_ = 0, end_ = 0;
};

}  // namespace detail

/// A part of all examples in an order that the epoch decides.
class DistributedRandomSampler : public detail::PartSampler {
 public:
  DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : PartSampler(size, num_replicas, rank, allow_duplicates) {
    shuffle();
  }

  void reset(std::optional<size_t> new_size = std::nullopt) override {
    size_ = new_size.value_or(size_);
    shuffle();
  }
  void save(serialize::OutputArchive& archive) const override {
    detail::write_number(archive, "sample_index_", at_);
    detail::write_number(archive, "epoch_", epoch_);
  }
  void load(serialize::InputArchive& archive) override {
    epoch_ = detail::read_number(archive, "epoch_");
    shuffle();
    at_ = detail::read_number(archive, "sample_index_");
  }

 private:
  [[nodiscard]] size_t at(size_t place) const override { return order_[place]; }
  void shuffle() {
    order_.resize(num_replicas_ == 1 ? size_ : local_sample_count() * num_replicas_);
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i % size_;
    std::mt19937 random(static_cast<std::mt19937::result_type>(epoch_));
    std::shuffle(order_.begin(), order_.end(), random);
    begin();
  }

  std::vector<size_t> order_;
};

/// Neighbouring examples.
class DistributedSequentialSampler : public detail::PartSampler {
 public:
  DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : PartSampler(size, num_replicas, rank, allow_duplicates) {
    begin();
  }

  void reset(std::optional<size_t> new_size = std::nullopt) override {
    size_ = new_size.value_or(size_);
    begin();
  }
  void save(serialize::OutputArchive& archive) const override { detail::write_number(archive, "sample_index_", at_); }
  void load(serialize::InputArchive& archive) override { at_ = detail::read_number(archive, "sample_index_"); }

 private:
  [[nodiscard]] size_t at(size_t place) const override { return place % size_; }
};

}  // namespace torch::data::samplers
