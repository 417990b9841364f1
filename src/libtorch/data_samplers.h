// Samplers: which examples a batch is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtorch/data_site.h"
#include "libtorch/serialize_archive.h"
#include "libtorch/types.h"

namespace torch::data::samplers {

namespace detail {
void write_number(serialize::OutputArchive& archive, const char* key, size_t number);
size_t read_number(serialize::InputArchive& archive, const char* key);
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

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// How many indices of the epoch it has given.
  [[nodiscard]] size_t index() const noexcept { return index_; }

 private:
  size_t size_, index_ = 0;
};

/// All indices in an order that torch::manual_seed decides.
class RandomSampler : public Sampler<> {
 public:
  explicit RandomSampler(int64_t size, Dtype /*index_dtype*/ = tandem::kInt64);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  [[nodiscard]] size_t index() const noexcept { return index_; }

 private:
  void shuffle(int64_t size);
  void take(const tandem::Tensor& indices);

  std::vector<int64_t> indices_;
  size_t index_ = 0;
};

/// A number of examples, for datasets that are streams.
struct BatchSize : public CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  [[nodiscard]] size_t size() const noexcept override;
  operator size_t() const noexcept { return size_; }
  size_t size_;
};

/// Numbers of examples that add up to `epoch_size`.
class StreamSampler : public Sampler<BatchSize> {
 public:
  explicit StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t epoch_size_, given_ = 0;
};

}  // namespace torch::data::samplers
