#include "libtorch/data_distributed.h"

#include <algorithm>
#include <random>

namespace torch::data::samplers {

std::optional<std::vector<size_t>> detail::PartSampler::next(size_t batch_size) {
  if (at_ >= end_) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, end_ - at_));
  for (size_t& index : indices) index = at(at_++);
  return indices;
}

void detail::PartSampler::begin() {
  at_ = rank_ * local_sample_count();
  end_ = at_ + local_sample_count();
}

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : PartSampler(size, num_replicas, rank, allow_duplicates) {
  shuffle();
}

void DistributedRandomSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  shuffle();
}

void DistributedRandomSampler::save(serialize::OutputArchive& archive) const {
  detail::write_number(archive, "sample_index_", at_);
  detail::write_number(archive, "epoch_", epoch_);
}

void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  epoch_ = detail::read_number(archive, "epoch_");
  shuffle();
  at_ = detail::read_number(archive, "sample_index_");
}

size_t DistributedRandomSampler::at(size_t place) const { return order_[place]; }

void DistributedRandomSampler::shuffle() {
  order_.resize(num_replicas_ == 1 ? size_ : local_sample_count() * num_replicas_);
  for (size_t i = 0; i < order_.size(); ++i) order_[i] = i % size_;
  std::mt19937 random(static_cast<std::mt19937::result_type>(epoch_));
  std::shuffle(order_.begin(), order_.end(), random);
  begin();
}

DistributedSequentialSampler::DistributedSequentialSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : PartSampler(size, num_replicas, rank, allow_duplicates) {
  begin();
}

void DistributedSequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  begin();
}

void DistributedSequentialSampler::save(serialize::OutputArchive& archive) const { detail::write_number(archive, "sample_index_", at_); }

void DistributedSequentialSampler::load(serialize::InputArchive& archive) { at_ = detail::read_number(archive, "sample_index_"); }

size_t DistributedSequentialSampler::at(size_t place) const { return place % size_; }

}  // namespace torch::data::samplers
