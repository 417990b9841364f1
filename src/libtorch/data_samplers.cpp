#include "libtorch/data_samplers.h"

#include <algorithm>
#include <numeric>

#include "ops/creation.h"
#include "ops/random.h"

namespace torch::data::samplers {

void detail::write_number(serialize::OutputArchive& archive, const char* key, size_t number) {
  archive.write(key, tandem::tensor(static_cast<int64_t>(number), tandem::kInt64, tandem::Site::none()), /*is_buffer=*/true);
}

size_t detail::read_number(serialize::InputArchive& archive, const char* key) {
  tandem::Tensor number;
  archive.read(key, number, /*is_buffer=*/true, torch::detail::statement());
  return static_cast<size_t>(number.item<int64_t>(tandem::Site::none()));
}

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ >= size_) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, size_ - index_));
  std::iota(indices.begin(), indices.end(), index_);
  index_ += indices.size();
  return indices;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const { detail::write_number(archive, "index", index_); }

void SequentialSampler::load(serialize::InputArchive& archive) { index_ = detail::read_number(archive, "index"); }

RandomSampler::RandomSampler(int64_t size, Dtype /*index_dtype*/) { shuffle(size); }

void RandomSampler::reset(std::optional<size_t> new_size) { shuffle(static_cast<int64_t>(new_size.value_or(indices_.size()))); }

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  if (index_ >= indices_.size()) return std::nullopt;
  const auto begin = indices_.begin() + static_cast<std::ptrdiff_t>(index_);
  const size_t count = std::min(batch_size, indices_.size() - index_);
  index_ += count;
  return std::vector<size_t>(begin, begin + static_cast<std::ptrdiff_t>(count));
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  detail::write_number(archive, "index", index_);
  archive.write("indices", tandem::tensor(indices_, tandem::kInt64, tandem::Site::none()), /*is_buffer=*/true);
}

void RandomSampler::load(serialize::InputArchive& archive) {
  index_ = detail::read_number(archive, "index");
  tandem::Tensor indices;
  archive.read("indices", indices, /*is_buffer=*/true, torch::detail::statement());
  take(indices);
}

void RandomSampler::shuffle(int64_t size) {
  take(tandem::randperm(size, tandem::kInt64, tandem::Site::none()));
  index_ = 0;
}

void RandomSampler::take(const tandem::Tensor& indices) {
  const tandem::Tensor whole = indices.contiguous(tandem::Site::none());
  const auto* data = whole.data_ptr<int64_t>(tandem::Site::none());
  indices_.assign(data, data + whole.numel());
}

size_t BatchSize::size() const noexcept { return size_; }

void StreamSampler::reset(std::optional<size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  given_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (given_ >= epoch_size_) return std::nullopt;
  const size_t count = std::min(batch_size, epoch_size_ - given_);
  given_ += count;
  return BatchSize(count);
}

void StreamSampler::save(serialize::OutputArchive& archive) const { detail::write_number(archive, "examples_retrieved_so_far", given_); }

void StreamSampler::load(serialize::InputArchive& archive) { given_ = detail::read_number(archive, "examples_retrieved_so_far"); }

}  // namespace torch::data::samplers
