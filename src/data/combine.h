// Datasets made of others: a part, several in a row, a function of each sample.
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace tandem::data {

class Generator;

/// The samples of a dataset at given indices. As torch.utils.data.Subset.
class Subset : public Dataset {
 public:
  /// IndexError where the dataset has no such sample.
  Subset(AnyDataset dataset, std::vector<int64_t> indices, Site = Site::here());

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(indices_.size()); }
  [[nodiscard]] Sample get(int64_t index) const override;
  /// Which samples of the dataset behind it, in their order.
  [[nodiscard]] const std::vector<int64_t>& indices() const { return indices_; }

 private:
  AnyDataset dataset_;
  std::vector<int64_t> indices_;
};
/// The samples at `indices`.
[[nodiscard]] Subset subset(AnyDataset dataset, std::vector<int64_t> indices, Site = Site::here());
/// Samples begin … end - 1. Error unless 0 <= begin <= end <= size.
[[nodiscard]] Subset subset(const AnyDataset& dataset, int64_t begin, int64_t end, Site = Site::here());

/// Parts without a sample in common, of these lengths, which add up to the dataset's size; or, where all lengths are fractions that add up
/// to 1, of these shares, rounded down, what is left over going to the first parts one each. Which sample goes where follows from the seed.
/// As torch.utils.data.random_split.
[[nodiscard]] std::vector<Subset> random_split(const AnyDataset& dataset, const std::vector<double>& lengths, uint64_t seed = 0,
                                               Site = Site::here());

/// Datasets one after another. As torch.utils.data.ConcatDataset.
class ConcatDataset : public Dataset {
 public:
  /// Error where there is none.
  explicit ConcatDataset(std::vector<AnyDataset> datasets, Site = Site::here());

  [[nodiscard]] int64_t size() const override { return ends_.back(); }
  [[nodiscard]] Sample get(int64_t index) const override;

 private:
  std::vector<AnyDataset> datasets_;
  std::vector<int64_t> ends_;  // of each, counted from the first sample of all
};

/// From a sample to a sample. The generator is the sample's own, see `sample_generator`.
using SampleFunction = std::function<Sample(Sample, Generator&)>;

/// A function of each sample of a dataset, called when the sample is read.
class MappedDataset : public Dataset {
 public:
  MappedDataset(AnyDataset dataset, SampleFunction function);

  [[nodiscard]] int64_t size() const override { return dataset_->size(); }
  [[nodiscard]] Sample get(int64_t index) const override;

 private:
  AnyDataset dataset_;
  SampleFunction function_;
};

/// `function` of each sample: `Sample(Sample)` or `Sample(Sample, Generator&)`.
[[nodiscard]] MappedDataset map(AnyDataset dataset, SampleFunction function);
template <class F>
requires std::is_invocable_r_v<Sample, const F&, Sample>
[[nodiscard]] MappedDataset map(AnyDataset dataset, F function) {
  return map(std::move(dataset),
             SampleFunction([function = std::move(function)](Sample sample, Generator&) { return function(std::move(sample)); }));
}

}  // namespace tandem::data
