// The order of an epoch is made at its start; batches are gathered as the loop asks for them.
#include "data/loader.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"

namespace tandem::data {
namespace {

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): enough for an order, and the same on every
/// machine.
class Generator {
 public:
  Generator(uint64_t seed, uint64_t stream) : state_(seed) { state_ = next() ^ (stream * 0xd1342543de82ef95ULL); }
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound): the rare numbers that would make some results likelier are drawn again.
  uint64_t below(uint64_t bound) {
    const uint64_t surplus = (0 - bound) % bound;  // 2^64 mod bound
    uint64_t number = next();
    while (number < surplus) number = next();
    return number % bound;
  }

 private:
  uint64_t state_;
};

}  // namespace

std::vector<int64_t> shuffled_indices(int64_t count, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(count, 0)));
  std::iota(order.begin(), order.end(), 0);
  Generator generator(seed, epoch);
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[generator.below(left)]);
  return order;
}

DataLoader::DataLoader(AnyDataset dataset, DataLoaderOptions options, Site site)
    : dataset_(std::move(dataset)), options_(options), site_(site) {
  if (options_.batch_size <= 0) fail("[DataLoader] batch_size must be positive, not ", options_.batch_size);
}

int64_t DataLoader::size() const {
  const int64_t samples = dataset_->size();
  return options_.drop_last ? samples / options_.batch_size : (samples + options_.batch_size - 1) / options_.batch_size;
}

void DataLoader::set_epoch(uint64_t epoch, int64_t first_batch) {
  if (first_batch < 0 || first_batch > size())
    fail("[DataLoader.set_epoch] first_batch must be between 0 and the ", size(), " batches of an epoch, but is ", first_batch);
  epoch_ = epoch;
  first_batch_ = first_batch;
}

DataLoader::Iterator DataLoader::begin() {
  Iterator iterator;
  iterator.loader_ = this;
  iterator.batch_ = std::exchange(first_batch_, 0);
  if (options_.shuffle) {
    iterator.order_ = std::make_shared<const std::vector<int64_t>>(shuffled_indices(dataset_->size(), options_.seed, epoch_));
  } else {
    std::vector<int64_t> order(static_cast<size_t>(dataset_->size()));
    std::iota(order.begin(), order.end(), 0);
    iterator.order_ = std::make_shared<const std::vector<int64_t>>(std::move(order));
  }
  ++epoch_;
  return iterator;
}

DataLoader::Iterator DataLoader::end() const {
  Iterator iterator;
  iterator.batch_ = size();
  return iterator;
}

Batch DataLoader::Iterator::operator*() const {
  const auto& options = loader_->options_;
  const auto first = static_cast<size_t>(batch_ * options.batch_size);
  const size_t count = std::min(static_cast<size_t>(options.batch_size), order_->size() - first);
  return loader_->dataset_->get_batch(std::span(*order_).subspan(first, count), {.pin_memory = options.pin_memory}, loader_->site_);
}

}  // namespace tandem::data
