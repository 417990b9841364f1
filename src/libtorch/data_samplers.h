// Samplers: which examples a batch is made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "libtorch/data_site.h"
#include "libtorch/serialize_archive.h"
#include "libtorch/types.h"
#include "ops/creation.h"
#include "ops/random.h"

namespace torch::data::samplers {

namespace detail {
inline void write_number(serialize::OutputArchive& archive, const char* key, size_t number) {
  archive.write(key, tandem::tensor(static_cast<int64_t>(number), tandem::kInt64, tandem::Site::none()), /*is_buffer=*/true);
}
inline size_t read_number(serialize::InputArchive& archive, const char* key) {
  tandem::Tensor number;
  archive.read(key, number, /*is_buffer=*/true, torch::detail::statement());
  return static_cast<size_t>(number.item<int64_t>(tandem::Site::none()));
}
}  // namespace detail

/// What a batch is asked for by, where that is no list of indices.
struct CustomBatchRequest {
  virtual ~CustomBatchRequest() = default;
  /// How many examples it asks for.
  [[nodiscard]] virtual size_t size() const = 0;
};

/// Gives a batch's request after another until the epoch is over.
template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;
  /// Begins an epoch, of another number of examples where one is given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  /// The next request, for up to batch_size examples; none at the end.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};
template <class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Sampler<BatchRequest>& sampler) {
  sampler.save(archive);
  return archive;
}
template <class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Sampler<BatchRequest>& sampler) {
  sampler.load(archive);
  return archive;
}

/// 0, 1, 2, …
class SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}

  void reset(std::optional<size_t> new_size = std::nullopt) override {
    size_ = new_size.value_or(size_);
    index_ = 0;
  }
  std::optional<std::vector<size_t>> next(size_t batch_size) override {
    if (index_ >= size_) return std::nullopt;
    std::vector<size_t> indices(std::min(batch_size, size_ - index_));
    std::iota(indices.begin(), indices.end(), index_);
    index_ += indices.size();
    return indices;
  }
  void save(serialize::OutputArchive& archive) const override { detail::write_number(archive, "index", index_); }
  void load(serialize::InputArchive& archive) override { index_ = detail::read_number(archive, "index"); }
  /// How many indices of the epoch it has given.
  [[nodiscard]] size_t index() const noexcept { return index_; }

 private:
  size_t size_, index_ = 0;
};

/// All indices in an order that torch::manual_seed decides.
class RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(int64_t size, Dtype /*index_dtype*/ = tandem::kInt64) { shuffle(size); }

  void reset(std::optional<size_t> new_size = std::nullopt) override { shuffle(static_cast<int64_t>(new_size.value_or(indices_.size()))); }
  std::optional<std::vector<size_t>> next(size_t batch_size) override {
    if (index_ >= indices_.size()) return std::nullopt;
    const auto begin = indices_.begin() + static_cast<std::ptrdiff_t>(index_);
    const size_t count = std::min(batch_size, indices_.size() - index_);
    index_ += count;
    return std::vector<size_t>(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  void save(serialize::OutputArchive& archive) const override {
    detail::write_number(archive, "index", index_);
    archive.write("indices", tandem::tensor(indices_, tandem::kInt64, tandem::Site::none()), /*is_buffer=*/true);
  }
  void load(serialize::InputArchive& archive) override {
    index_ = detail::read_number(archive, "index");
    tandem::Tensor indices;
    archive.read("indices", indices, /*is_buffer=*/true, torch::detail::statement());
    take(indices);
  }
  [[nodiscard]] size_t index() const noexcept { return index_; }

 private:
  void shuffle(int64_t size) {
    take(tandem::randperm(size, tandem::kInt64, tandem::Site::none()));
    index_ = 0;
  }
  void take(const tandem::Tensor& indices) {
    const tandem::Tensor whole = indices.contiguous(tandem::Site::none());
    const auto* data = whole.data_ptr<int64_t>(tandem::Site::none());
    indices_.assign(data, data + whole.numel());
  }

  std::vector<int64_t> indices_;
  size_t index_ = 0;
};

/// A number of examples, for datasets that are streams.
struct BatchSize : public CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  [[nodiscard]] size_t size() const noexcept override { return size_; }
  operator size_t() const noexcept { return size_; }
  size_t size_;
};

/// Numbers of examples that add up to `epoch_size`.
class StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}

  void reset(std::optional<size_t> new_size = std::nullopt) override {
    epoch_size_ = new_size.value_or(epoch_size_);
    given_ = 0;
  }
  std::optional<BatchSize> next(size_t batch_size) override {
    if (given_ >= epoch_size_) return std::nullopt;
    const size_t count = std::min(batch_size, epoch_size_ - given_);
    given_ += count;
    return BatchSize(count);
  }
  void save(serialize::OutputArchive& archive) const override { detail::write_number(archive, "examples_retrieved_so_far", given_); }
  void load(serialize::InputArchive& archive) override { given_ = detail::read_number(archive, "examples_retrieved_so_far"); }

 private:
  size_t epoch_size_, given_ = 0;
};

}  // namespace torch::data::samplers
