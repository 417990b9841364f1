// Datasets: of examples by index, of batches, of streams, with a state; mapped and shared ones, of tensors, and MNIST.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtorch/data_example.h"
#include "libtorch/data_site.h"
#include "libtorch/types.h"

namespace torch::serialize {
class OutputArchive;
class InputArchive;
}  // namespace torch::serialize

namespace torch::data::datasets {

template <class Source, class Applied>
class MapDataset;

namespace detail {
template <class T>
struct Unwrapped {
  using type = T;
  static constexpr bool is_optional = false;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
  static constexpr bool is_optional = true;
};
}  // namespace detail

/// A dataset that gives batches. `Self` is the class that derives from it.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  /// Whether batches run out by themselves: they are optional then.
  static constexpr bool is_stateful = detail::Unwrapped<Batch>::is_optional;

  virtual ~BatchDataset() = default;
  virtual Batch get_batch(BatchRequest request) = 0;
  /// How many examples there are, where that is known.
  [[nodiscard]] virtual std::optional<size_t> size() const = 0;
  /// This dataset with a transform behind it.
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return {static_cast<Self&>(*this), std::move(transform)};
  }
  template <class TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return {std::move(static_cast<Self&>(*this)), std::move(transform)};
  }
};

/// A dataset of examples by index.
template <class Self, class SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;
  std::vector<ExampleType> get_batch(ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t i : indices) batch.push_back(get(i));
    return batch;
  }
};

/// A dataset that is asked for a number of examples.
template <class Self, class Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

/// A dataset that ends an epoch by itself, with a batch of none.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  /// Begins an epoch.
  virtual void reset() = 0;
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};
template <class... Args>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const StatefulDataset<Args...>& dataset) {
  dataset.save(archive);
  return archive;
}
template <class... Args>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, StatefulDataset<Args...>& dataset) {
  dataset.load(archive);
  return archive;
}

namespace detail {
template <class Source, class Applied>
using MappedBatch =
    std::conditional_t<Source::is_stateful, std::optional<typename Applied::OutputBatchType>, typename Applied::OutputBatchType>;
}

/// A dataset with a transform behind it.
template <class Source, class Applied>
class MapDataset
    : public BatchDataset<MapDataset<Source, Applied>, detail::MappedBatch<Source, Applied>, typename Source::BatchRequestType> {
 public:
  using DatasetType = Source;
  using TransformType = Applied;
  using BatchRequestType = typename Source::BatchRequestType;
  using OutputBatchType = detail::MappedBatch<Source, Applied>;
  static_assert(std::is_same_v<typename detail::Unwrapped<typename Source::BatchType>::type, typename Applied::InputBatchType>,
                "the batches of the dataset are not what the transform takes");

  MapDataset(Source dataset, Applied transform) : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType request) override {
    if constexpr (Source::is_stateful) {
      auto batch = dataset_.get_batch(std::move(request));
      if (!batch) return std::nullopt;
      return transform_.apply_batch(std::move(*batch));
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(request)));
    }
  }
  [[nodiscard]] std::optional<size_t> size() const noexcept override { return dataset_.size(); }
  /// Begins an epoch of a stateful dataset.
  void reset() { dataset_.reset(); }
  const Source& dataset() noexcept { return dataset_; }
  const Applied& transform() noexcept { return transform_; }

 private:
  Source dataset_;
  Applied transform_;
};

/// A dataset whose copies are one: what workers share, and what cannot be copied.
template <class Underlying>
class SharedBatchDataset
    : public BatchDataset<SharedBatchDataset<Underlying>, typename Underlying::BatchType, typename Underlying::BatchRequestType> {
 public:
  using BatchType = typename Underlying::BatchType;
  using BatchRequestType = typename Underlying::BatchRequestType;

  SharedBatchDataset(std::shared_ptr<Underlying> dataset) : dataset_(std::move(dataset)) {}
  BatchType get_batch(BatchRequestType request) override { return dataset_->get_batch(std::move(request)); }
  [[nodiscard]] std::optional<size_t> size() const override { return dataset_->size(); }
  Underlying& operator*() { return *dataset_; }
  const Underlying& operator*() const { return *dataset_; }
  Underlying* operator->() { return dataset_.get(); }
  const Underlying* operator->() const { return dataset_.get(); }
  void reset() { dataset_->reset(); }

 private:
  std::shared_ptr<Underlying> dataset_;
};
/// A shared dataset, made from these arguments.
template <class Underlying, class... Args>
SharedBatchDataset<Underlying> make_shared_dataset(Args&&... args) {
  return std::make_shared<Underlying>(std::forward<Args>(args)...);
}

/// The slices of a tensor along its first dimension.
struct TensorDataset : public Dataset<TensorDataset, TensorExample> {
  explicit TensorDataset(const std::vector<tandem::Tensor>& tensors, tandem::Site site = tandem::Site::here());
  explicit TensorDataset(tandem::Tensor tensor_);

  TensorExample get(size_t index) override;
  [[nodiscard]] std::optional<size_t> size() const override;

  tandem::Tensor tensor;
};

/// A dataset of the MNIST family from a folder with its files in the IDX format, plain or with .gz: images (1, 28, 28) from 0 to 1, labels.
class MNIST : public Dataset<MNIST> {
 public:
  /// The 60,000 to learn from, or the 10,000 to be judged by.
  enum class Mode { kTrain, kTest };

  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain, tandem::Site site = tandem::Site::here());

  Example<> get(size_t index) override;
  [[nodiscard]] std::optional<size_t> size() const override;
  [[nodiscard]] bool is_train() const noexcept;
  [[nodiscard]] const tandem::Tensor& images() const { return images_; }
  [[nodiscard]] const tandem::Tensor& targets() const { return targets_; }

 private:
  Mode mode_;
  tandem::Tensor images_, targets_;
};

}  // namespace torch::data::datasets

namespace torch::data {
using datasets::Dataset;
}
