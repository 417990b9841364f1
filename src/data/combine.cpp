#include "data/combine.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "data/generator.h"
#include "data/sampler.h"

namespace tandem::data {
namespace {

std::vector<int64_t> counted(int64_t begin, int64_t end) {
  std::vector<int64_t> indices(static_cast<size_t>(end - begin));
  std::iota(indices.begin(), indices.end(), begin);
  return indices;
}

/// How many samples each part has.
std::vector<int64_t> part_sizes(const std::vector<double>& lengths, int64_t count) {
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  for (const double length : lengths)
    if (!(length >= 0)) fail("[random_split] a length is ", length, ": lengths must not be negative");
  std::vector<int64_t> sizes;
  // As PyTorch: what adds up to 1 are fractions, unless it is the one sample there is.
  if (std::abs(sum - 1) < 1e-6 && std::any_of(lengths.begin(), lengths.end(), [](double length) { return length != std::floor(length); })) {
    for (const double length : lengths) sizes.push_back(static_cast<int64_t>(std::floor(static_cast<double>(count) * length)));
    const int64_t left = count - std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    for (int64_t i = 0; i < left; ++i) ++sizes[static_cast<size_t>(i) % sizes.size()];
    return sizes;
  }
  for (const double length : lengths) {
    if (length != std::floor(length)) fail("[random_split] the lengths add up to ", sum, ": fractions must add up to 1");
    sizes.push_back(static_cast<int64_t>(length));
  }
  if (sum != static_cast<double>(count))
    fail("[random_split] the lengths add up to ", sum, ", but the dataset has ", count, " samples: both must agree");
  return sizes;
}

}  // namespace

Subset::Subset(AnyDataset dataset, std::vector<int64_t> indices, Site /*site*/)
    : dataset_(std::move(dataset)), indices_(std::move(indices)) {
  const int64_t count = dataset_->size();
  for (const int64_t index : indices_)
    if (index < 0 || index >= count) fail<IndexError>("[Subset] index ", index, " is out of range for ", count, " samples");
}

Sample Subset::get(int64_t index) const { return dataset_->get(indices_[static_cast<size_t>(index)]); }

Subset subset(AnyDataset dataset, std::vector<int64_t> indices, Site /*site*/) { return {std::move(dataset), std::move(indices)}; }

Subset subset(const AnyDataset& dataset, int64_t begin, int64_t end, Site /*site*/) {
  const int64_t count = dataset->size();
  if (begin < 0 || end < begin || end > count)
    fail("[subset] samples ", begin, " to ", end, " asked for, but there are ", count, ": 0 <= begin <= end <= ", count, " has to hold");
  return {dataset, counted(begin, end)};
}

std::vector<Subset> random_split(const AnyDataset& dataset, const std::vector<double>& lengths, uint64_t seed, Site /*site*/) {
  const std::vector<int64_t> order = shuffled_indices(dataset->size(), seed, 0);
  std::vector<Subset> parts;
  auto at = order.begin();
  for (const int64_t size : part_sizes(lengths, dataset->size())) {
    parts.emplace_back(dataset, std::vector<int64_t>(at, at + size));
    at += size;
  }
  return parts;
}

ConcatDataset::ConcatDataset(std::vector<AnyDataset> datasets, Site /*site*/) : datasets_(std::move(datasets)) {
  if (datasets_.empty()) fail("[ConcatDataset] needs at least one dataset");
  int64_t end = 0;
  for (const AnyDataset& dataset : datasets_) ends_.push_back(end += dataset->size());
}

Sample ConcatDataset::get(int64_t index) const {
  const auto found = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  if (found == ends_.size()) fail<IndexError>("[ConcatDataset] index ", index, " is out of range for ", size(), " samples");
  return datasets_[found]->get(found == 0 ? index : index - ends_[found - 1]);
}

MappedDataset::MappedDataset(AnyDataset dataset, SampleFunction function) : dataset_(std::move(dataset)), function_(std::move(function)) {}

Sample MappedDataset::get(int64_t index) const {
  return with_sample_generator(index, [&](Generator& generator) { return function_(dataset_->get(index), generator); });
}

MappedDataset map(AnyDataset dataset, SampleFunction function) { return {std::move(dataset), std::move(function)}; }

}  // namespace tandem::data
